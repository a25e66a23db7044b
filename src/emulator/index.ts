export type {
  Delivery,
  DeliveryOutcome,
  EmulatedEvent,
  EndpointDelivery,
  EventTarget,
  LoggedAttempt,
} from "./deliveries/event";
export type { Job, JobOptions } from "./deliveries/job";
export type { RotationOptions, SecretRotation, SecretsOption } from "./deliveries/secrets";
export type { Emulator } from "./emulator";
export type { AddedEndpoint, EmulatedEndpoint, EmulatedEndpointType, EndpointInput } from "./endpoint";
export { EmulatorError, type EmulatorErrorCode } from "./errors";
export {
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  type FaultTarget,
  type Misbehaviour,
  type Operation,
  type PlantedFault,
} from "./fault";
export type { ListShape, MoreSign } from "./listing";
export type { LoggedRequest } from "./log";
export { DEFAULT_ACCOUNT, DEFAULT_API_KEY, type EmulatorOptions } from "./options";
export type { RateLimit } from "./rateLimiter";
export { startEmulator } from "./startEmulator";
