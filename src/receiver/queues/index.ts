export type { WorkerOutcome } from "../types";
export { type BullmqQueue, bullmqQueue } from "./bullmq";
export { type PgBossClient, pgBossQueue } from "./pgBoss";
export type { DeliveryQueue, QueuedDelivery } from "./queue";
export type { SqsBatchResult, SqsClient, SqsEvent, SqsQueueOptions } from "./sqs";
export { sqsHandler, sqsQueue } from "./sqs";
export type { QueueWorker, QueueWorkerOptions, WorkerContext } from "./worker";
export { DeliveryHeldError, QueuedDeliveryError, queueWorker } from "./worker";
