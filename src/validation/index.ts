export type { ValidateReceiverOptions, ValidationResult } from "./validateReceiver";
export { validateReceiver } from "./validateReceiver";
export type { ValidationCode } from "./verdict";
