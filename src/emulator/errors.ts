import { CodedError } from "../shared/codedError";

/** Why the emulator refused something. Stable. */
export type EmulatorErrorCode =
  | "EMULATOR_OPTIONS"
  | "EMULATOR_LISTEN"
  | "EMULATOR_DATA_FILE"
  | "EMULATOR_DATA_FILE_IN_USE"
  | "EMULATOR_CLOSED"
  | "EMULATOR_TIMEOUT"
  | "EMULATOR_UNKNOWN_ACCOUNT"
  | "EMULATOR_UNKNOWN_DELIVERY"
  | "EMULATOR_UNKNOWN_ENDPOINT"
  | "EMULATOR_UNKNOWN_KEY";

/** Thrown when the emulator is used incorrectly. A bad API request gets an error status instead. */
export class EmulatorError extends CodedError<EmulatorErrorCode> {
  /** Always `"EmulatorError"`. */
  override readonly name = "EmulatorError";
}
