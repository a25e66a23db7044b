export type { VerificationFailure } from "../signature/result";
export { WebhookSecretError } from "../signature/secret";
export type { MemoryDedupeOptions } from "./dedupe/memory";
export { memoryDedupe } from "./dedupe/memory";
export type { IoredisClient, NodeRedisClient, RedisDedupeOptions } from "./dedupe/redis";
export { redisDedupe } from "./dedupe/redis";
export type { Claim, DedupeStore } from "./dedupe/store";
export type { ReceiverOptions } from "./options";
export { createReceiver } from "./receiver";
export type {
  Delivery,
  Handler,
  Handlers,
  JobDelivery,
  JobEvent,
  KeyedDelivery,
  Outcome,
  OutcomeKind,
  Receiver,
  ReceiverRequest,
  ReceiverResponse,
  Refusal,
  Rejection,
  Secrets,
  UnrecordedDelivery,
} from "./types";
