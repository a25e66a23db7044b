import { CodedError } from "../shared/codedError";
import type { ValidationErrorCode } from "./verdict";

/** Why a receiver is not validated, or why a validation cannot be made. Stable. */
type ReceiverValidationErrorCode = ValidationErrorCode | "VALIDATION_NOT_IMPORTABLE" | "RUN_CANCELLED";

/** A receiver that is not validated, or a validation that cannot be made. The message holds no secret, and of the url only its origin. */
export class ReceiverValidationError extends CodedError<ReceiverValidationErrorCode> {
  override readonly name = "ReceiverValidationError";

  constructor(code: ReceiverValidationErrorCode, reason: string) {
    super(code, reason);
    // The plugin would print it (engine rule 15).
    this.stack = "";
  }
}
