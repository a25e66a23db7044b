import { CodedError } from "../shared/codedError";
import { isRecord } from "../shared/json";
import { unknownOptions } from "../shared/knownOptions";

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

/**
 * Refuses options that do not exist, and a value in place of the options, whose name nothing would tell.
 *
 * @param action what cannot be done, such as "deliver"
 * @throws EmulatorError
 */
export function checkNames(action: string, options: unknown, known: Readonly<Record<string, true>>): void {
  const names = Object.keys(known);
  const unknown = isRecord(options)
    ? unknownOptions(options, names, "an option")
    : [`it takes an object with ${names.join(", ")}`];
  if (unknown.length > 0)
    throw new EmulatorError("EMULATOR_OPTIONS", `Cannot ${action}: ${unknown.join("; ")}.`);
}
