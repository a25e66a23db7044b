export { type ValidateReceiverOptions, type ValidationResult, validateReceiver } from "./validateReceiver";
export type { ValidationErrorCode } from "./verdict";
