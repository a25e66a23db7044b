import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();
const WORKER_SECONDS = 30;

const deadLetters = new aws.sqs.Queue("webhooks-dead", {
  fifoQueue: true,
  messageRetentionSeconds: 14 * 24 * 3600,
});
const queue = new aws.sqs.Queue("webhooks", {
  fifoQueue: true,
  // How long a delivery may wait for a worker.
  messageRetentionSeconds: 14 * 24 * 3600,
  // AWS advises six times the worker's timeout.
  visibilityTimeoutSeconds: 6 * WORKER_SECONDS,
  redrivePolicy: pulumi.jsonStringify({ deadLetterTargetArn: deadLetters.arn, maxReceiveCount: 10 }),
});

function roleFor(name: string, actions: string[]) {
  const role = new aws.iam.Role(name, {
    assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" }),
  });
  const logs = aws.iam.ManagedPolicy.AWSLambdaBasicExecutionRole;
  new aws.iam.RolePolicyAttachment(`${name}-logs`, { role: role.name, policyArn: logs });
  new aws.iam.RolePolicy(name, {
    role: role.name,
    policy: { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: actions, Resource: queue.arn }] },
  });
  return role;
}

/** Both functions are bundled: `npx esbuild receiver.ts worker.ts --bundle --platform=node --external:@aws-sdk/* --outdir=build` */
const code = new pulumi.asset.FileArchive("build");
const runtime = "nodejs22.x";
const configuration = receiverConfig({ secrets: [config.requireSecret("signingSecret")] });

const receiver = new aws.lambda.Function("receiver", {
  runtime,
  code,
  handler: "receiver.handler",
  role: roleFor("receiver", ["sqs:SendMessage"]).arn,
  timeout: 10,
  environment: { variables: { QUEUE_URL: queue.url, WEBHOOK_RECEIVER: pulumi.jsonStringify(configuration) } },
});
const { functionUrl } = new aws.lambda.FunctionUrl("receiver", {
  functionName: receiver.name,
  // Anyone may call it; the receiver refuses everything that is not signed.
  authorizationType: "NONE",
});
// AWS requires both for a url that anyone may call.
new aws.lambda.Permission("call", {
  action: "lambda:InvokeFunctionUrl",
  function: receiver.name,
  principal: "*",
  functionUrlAuthType: "NONE",
});
new aws.lambda.Permission("invoke", {
  action: "lambda:InvokeFunction",
  function: receiver.name,
  principal: "*",
  invokedViaFunctionUrl: true,
});

const worker = new aws.lambda.Function("worker", {
  runtime,
  code,
  handler: "worker.handler",
  role: roleFor("worker", ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]).arn,
  timeout: WORKER_SECONDS,
  environment: { variables: { REDIS_URL: config.requireSecret("redisUrl") } },
});
new aws.lambda.EventSourceMapping("worker", {
  eventSourceArn: queue.arn,
  functionName: worker.name,
  // Without it, Lambda would take a whole batch for handled, whatever the worker returns.
  functionResponseTypes: ["ReportBatchItemFailures"],
});

export const jobs = new WebhookEndpoint("jobs", { url: functionUrl, type: "production" }).id;
export const deadLetterQueue = deadLetters.url;
