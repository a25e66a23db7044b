export type { ValidateReceiverOptions, ValidationResult } from "./validateReceiver";
export { validateReceiver } from "./validateReceiver";
export type { ValidationErrorCode } from "./verdict";
