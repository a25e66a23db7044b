import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { receiverConfig, WebhookEndpoint } from "pulumi-webhook-endpoints";

const config = new pulumi.Config();

const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });

const secrets = [config.requireSecret("signingSecret")];
const next = config.getSecret("nextSigningSecret");
if (next) secrets.push(next);

/** Without `enableSecretMutable`, a change of the data replaces the Secret, and running containers keep the old one. */
const cluster = new k8s.Provider("cluster", { enableSecretMutable: true });

const secret = new k8s.core.v1.Secret(
  "receiver",
  {
    metadata: { name: "webhook-receiver" },
    stringData: { "receiver.json": pulumi.jsonStringify(receiverConfig({ endpoints: { jobs }, secrets })) },
  },
  { provider: cluster },
);

const labels = { app: "webhook-receiver" };

/** Runs receiver.ts. With more than one replica, give its receiver a `redisDedupe` with your application's prefix (docs/deduplication.md, "Several processes"). */
export const deployment = new k8s.apps.v1.Deployment(
  "receiver",
  {
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "receiver",
              image: config.require("image"),
              ports: [{ containerPort: 8080 }],
              // The whole folder: a file that is mounted by `subPath` never changes.
              volumeMounts: [{ name: "webhooks", mountPath: "/etc/webhooks", readOnly: true }],
            },
          ],
          volumes: [{ name: "webhooks", secret: { secretName: secret.metadata.name } }],
        },
      },
    },
  },
  { provider: cluster },
).metadata.name;
