export type { JobEvent, WebhookEvent } from "../signature/event";
export type { VerificationFailure } from "../signature/result";
export { WebhookSecretError } from "../signature/secret";
export { type MemoryDedupeOptions, memoryDedupe } from "./dedupe/memory";
export type { IoredisClient, NodeRedisClient, RedisDedupeOptions } from "./dedupe/redis";
export { redisDedupe } from "./dedupe/redis";
export type { Claim, DedupeStore } from "./dedupe/store";
export type { HandlingOptions, QueueReceiverOptions, ReceiverOptions } from "./options";
export type { DeliveryQueue, QueuedDelivery } from "./queues/queue";
export { createReceiver } from "./receiver";
export type {
  Delivery,
  EventDelivery,
  EventSchemas,
  Handler,
  Handlers,
  KeyedDelivery,
  LazyReceiver,
  NoEvents,
  Outcome,
  OutcomeKind,
  Receiver,
  ReceiverRequest,
  ReceiverResponse,
  Refusal,
  Rejection,
  SchemaIssue,
  SchemaResult,
  Secrets,
  StandardSchema,
} from "./types";
