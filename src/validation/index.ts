export type { ValidationErrorCode } from "./problem";
export { type ValidateReceiverOptions, type ValidationResult, validateReceiver } from "./validateReceiver";
