export type { DeliveryRecord, EndpointDelivery, LoggedAttempt } from "./deliveryRecord";
export { EmulatorError, type EmulatorErrorCode } from "./emulatorError";
export type { Emulator } from "./emulatorInterface";
export type { EmulatedEvent, EventTarget } from "./event";
export {
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  type FaultOptions,
  type Operation,
} from "./faults";
export type { EmulatedResponse } from "./http";
export type { LoggedRequest } from "./loggedRequest";
export type { EmulatorOptions, ResponseHook } from "./options";
export type { EmulatedEndpoint, EmulatedEndpointType, EndpointInput } from "./registry";
export type { Job, JobOptions } from "./runJob";
export type { RotationOptions, SecretRotation, SecretsOption } from "./secrets";
export { startEmulator } from "./start";
