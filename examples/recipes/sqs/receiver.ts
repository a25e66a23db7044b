import { SQS } from "@aws-sdk/client-sqs";
import { lambdaHandler } from "pulumi-webhook-endpoints/receiver/lambda";
import { sqsQueue } from "pulumi-webhook-endpoints/receiver/queues";
import { receiverFromEnv } from "pulumi-webhook-endpoints/stack";

const queue = sqsQueue({ client: new SQS(), queueUrl: process.env.QUEUE_URL ?? "" });

// The queue must answer before the function's time is up.
export const handler = lambdaHandler(receiverFromEnv({}, { queue, handlerTimeoutMs: 5_000 }));
