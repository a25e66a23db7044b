export type EmulatorErrorCode =
  | "ERR_EMULATOR_OPTIONS"
  | "ERR_EMULATOR_LISTEN"
  | "ERR_EMULATOR_DATA_FILE"
  | "ERR_EMULATOR_CLOSED"
  | "ERR_EMULATOR_UNKNOWN_ACCOUNT"
  | "ERR_EMULATOR_UNKNOWN_DELIVERY"
  | "ERR_EMULATOR_UNKNOWN_ENDPOINT"
  | "ERR_EMULATOR_UNKNOWN_KEY";

/** A mistake in how the emulator is used. What a request does wrong is answered with a status instead. */
export class EmulatorError extends Error {
  override readonly name = "EmulatorError";

  constructor(
    readonly code: EmulatorErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
