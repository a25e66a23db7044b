// What users' state names for ever, by way of the constant that each resource carries: the subpath and both names are a promise.
export { createProvider, provider } from "./endpoint/provider";
export { receiverValidation } from "./validation/provider";
