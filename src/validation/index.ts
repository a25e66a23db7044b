export type { ValidationResult } from "./probe";
export { type ValidateReceiverOptions, validateReceiver } from "./validateReceiver";
export type { ValidationErrorCode } from "./verdict";
