import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
import { type LambdaHttpEvent, lambdaHandler } from "pulumi-webhook-endpoints/receiver/lambda";
import { parseReceiverConfig } from "pulumi-webhook-endpoints/stack";

const client = new SecretsManagerClient();

async function configuration() {
  const command = new GetSecretValueCommand({ SecretId: process.env.RECEIVER_SECRET });
  const { SecretString } = await client.send(command);
  return parseReceiverConfig(SecretString);
}

/** Several instances run at once and share no memory: add a `redisDedupe` with your application's prefix if a delivery must not be handled twice. */
async function start() {
  const { toleranceSeconds } = await configuration();
  const receiver = createReceiver({
    toleranceSeconds,
    // Called again when its last answer is a minute old, so a rotation deploys nothing.
    secrets: async () => (await configuration()).secrets,
    handlers: {
      "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
      "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
    },
  });
  return lambdaHandler(receiver);
}

let handle: ReturnType<typeof lambdaHandler> | undefined;

export async function handler(event: LambdaHttpEvent) {
  try {
    handle ??= await start();
  } catch (error) {
    console.error("The receiver's configuration cannot be read yet, so the sender has to retry.", error);
    return { statusCode: 503, body: "not ready" };
  }
  return handle(event);
}
