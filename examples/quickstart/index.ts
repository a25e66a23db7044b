import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();

/** Told about the jobs that customers run. */
const jobs = new WebhookEndpoint("jobs", {
  url: "https://hooks.example.com/jobs",
  type: "production",
});

/** Where we try things. */
const sandbox = new WebhookEndpoint("sandbox", {
  url: config.get("sandboxUrl") ?? "https://sandbox.example.com/jobs",
  type: "development",
});

/** What the service signs with: two secrets while one is rotated. */
const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);

export const jobsId = jobs.id;
export const sandboxId = sandbox.id;

/** All that a receiver needs to verify what these endpoints are sent, as one secret output. */
export const receiver = receiverConfig({ endpoints: { jobs, sandbox }, secrets });
