import { CodedError } from "../shared/codedError";

/** Why the emulator refused something. Stable. */
export type EmulatorErrorCode =
  | "EMULATOR_OPTIONS"
  | "EMULATOR_LISTEN"
  | "EMULATOR_DATA_FILE"
  | "EMULATOR_UNKNOWN";

/** Thrown when the emulator is used incorrectly. A bad API request gets an error status instead. */
export class EmulatorError extends CodedError<EmulatorErrorCode> {
  /** Always `"EmulatorError"`. */
  override readonly name = "EmulatorError";
}
