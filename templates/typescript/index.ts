import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();

const jobs = new WebhookEndpoint("jobs", { url: config.require("url"), type: "development" });

/** The secrets that the service signs with: two during a rotation. */
const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);

export const jobsId = jobs.id;

/** Everything a receiver needs, as one secret output. */
export const receiver = receiverConfig({ endpoints: { jobs }, secrets });
