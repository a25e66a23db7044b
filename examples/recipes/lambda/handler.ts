import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
import { lambdaHandler } from "pulumi-webhook-endpoints/receiver/lambda";
import { parseReceiverConfig } from "pulumi-webhook-endpoints/stack";

const client = new SecretsManagerClient();

/** Asked again when its answer is a minute old: a rotation deploys nothing. */
async function secrets() {
  const command = new GetSecretValueCommand({ SecretId: process.env.RECEIVER_SECRET });
  const { SecretString } = await client.send(command);
  return parseReceiverConfig(SecretString).secrets;
}

/** Several of these run at once and know nothing of each other: where twice is too often, give it `redisDedupe`. */
const receiver = createReceiver({
  secrets,
  handlers: {
    "job.succeeded": async ({ jobId }) => console.log(`${jobId} is done`),
    "job.failed": async ({ jobId }) => console.log(`${jobId} failed`),
  },
});

export const handler = lambdaHandler(receiver);
