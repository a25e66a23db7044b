export { type BullmqQueue, bullmqQueue } from "./bullmq";
export type { DeliveryQueue, QueuedDelivery } from "./delivery";
export { QueuedDeliveryError, type QueuedDeliveryErrorCode } from "./jobs";
export { type PgBossClient, pgBossQueue } from "./pgBoss";
export type { SqsBatchResult, SqsClient, SqsEvent, SqsQueueOptions } from "./sqs";
export { sqsHandler, sqsQueue } from "./sqs";
export type { QueueWorker, QueueWorkerOptions, WorkerContext, WorkerOutcome } from "./worker";
export { DeliveryHeldError, queueWorker } from "./worker";
