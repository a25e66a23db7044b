// What users' state names for ever, by way of the constant that each resource carries: the subpath and these names are a promise.
export { createProvider, provider } from "./provider/verbs";
export { receiverValidation } from "./validation/receiverValidationProvider";
