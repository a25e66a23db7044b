import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();
const host = config.get("host") ?? "https://hooks.example.com";

/** Told about each job that customers run. */
const jobs = new WebhookEndpoint("jobs", { url: `${host}/jobs`, type: "production" });

/** Where we try things. */
const sandbox = new WebhookEndpoint("sandbox", { url: `${host}/sandbox`, type: "development" });

export const jobsId = jobs.id;
export const sandboxId = sandbox.id;

/** All that a receiver needs to verify what these endpoints are sent: a secret output. */
export const receiver = receiverConfig({
  endpoints: { jobs, sandbox },
  secrets: [config.requireSecret("signingSecret")],
});
