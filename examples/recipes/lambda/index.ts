import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();

const secret = new aws.secretsmanager.Secret("receiver");

const role = new aws.iam.Role("receiver", {
  assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" }),
});
new aws.iam.RolePolicyAttachment("logs", {
  role: role.name,
  policyArn: aws.iam.ManagedPolicy.AWSLambdaBasicExecutionRole,
});
new aws.iam.RolePolicy("secret", {
  role: role.name,
  policy: {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "secretsmanager:GetSecretValue", Resource: secret.arn }],
  },
});

/** Runs handler.ts, bundled: `npx esbuild handler.ts --bundle --platform=node --external:@aws-sdk/* --outdir=build` */
const receiver = new aws.lambda.Function("receiver", {
  runtime: "nodejs22.x",
  handler: "handler.handler",
  code: new pulumi.asset.FileArchive("build"),
  role: role.arn,
  // Longer than the receiver's handlerTimeoutMs, 15 seconds by default.
  timeout: 30,
  environment: { variables: { RECEIVER_SECRET: secret.arn } },
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

const jobs = new WebhookEndpoint("jobs", { url: functionUrl, type: "production" });

const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);

/** Created last, because it names the endpoint. Until then, deliveries are answered 503 and sent again. */
new aws.secretsmanager.SecretVersion("receiver", {
  secretId: secret.id,
  secretString: pulumi.jsonStringify(receiverConfig({ endpoints: { jobs }, secrets })),
});
