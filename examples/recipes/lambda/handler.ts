import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
import { lambdaHandler } from "pulumi-webhook-endpoints/receiver/lambda";
import { parseReceiverConfig } from "pulumi-webhook-endpoints/stack";

const client = new SecretsManagerClient();

async function configuration() {
  const command = new GetSecretValueCommand({ SecretId: process.env.RECEIVER_SECRET });
  const { SecretString } = await client.send(command);
  return parseReceiverConfig(SecretString);
}

/**
 * The first request creates the receiver. Until the secret has a value, deliveries get 503, and are sent again. Several instances run at
 * once and share no memory: if a delivery must not be handled twice, add the `redisDedupe` that
 * node_modules/pulumi-webhook-endpoints/docs/deduplication.md shows, with your application's prefix.
 */
export const handler = lambdaHandler(async () => {
  const { toleranceSeconds } = await configuration();
  return createReceiver({
    toleranceSeconds,
    // Called again when its last answer is a minute old, so a rotation deploys nothing.
    secrets: async () => (await configuration()).secrets,
    handlers: {
      "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
      "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
    },
  });
});
