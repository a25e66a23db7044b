import { CodedError } from "../error";
import type { ValidationCode } from "./verdict";

/** A receiver that is not validated, or a validation that cannot be made. The message holds no secret, and of the url only its origin. */
export class ReceiverValidationError extends CodedError<ValidationCode | "VALIDATION_NOT_IMPORTABLE"> {
  override readonly name = "ReceiverValidationError";

  constructor(code: ValidationCode | "VALIDATION_NOT_IMPORTABLE", reason: string) {
    super(code, reason);
    // The plugin would print it (engine rule 15).
    this.stack = "";
  }
}
