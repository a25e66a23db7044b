import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();

/** Receives the events of customers' jobs. */
const jobs = new WebhookEndpoint("jobs", {
  url: "https://hooks.example.com/jobs",
  type: "production",
});

/** For experiments. */
const sandbox = new WebhookEndpoint("sandbox", {
  url: config.get("sandboxUrl") ?? "https://sandbox.example.com/jobs",
  type: "development",
});

/** The secrets that the service signs with: two during a rotation. */
const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);

export const jobsId = jobs.id;
export const sandboxId = sandbox.id;

/** Everything a receiver needs to verify the deliveries to these endpoints, as one secret output. */
export const receiver = receiverConfig({ endpoints: { jobs, sandbox }, secrets });
