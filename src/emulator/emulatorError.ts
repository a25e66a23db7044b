import { CodedError, KIND } from "../shared/codedError";

/** Why the emulator refused something. Stable. */
export type EmulatorErrorCode = "EMULATOR_ARGUMENT" | "EMULATOR_DATA_FILE" | "PORT_UNAVAILABLE";

/** Thrown when the emulator is used incorrectly. A bad API request gets an error status instead. */
export class EmulatorError extends CodedError<EmulatorErrorCode> {
  /** @internal */ static readonly [KIND]: string = "EmulatorError";
  /** Always `"EmulatorError"`. */
  override readonly name = "EmulatorError";
}
