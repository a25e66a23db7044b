"""A webhook endpoint, and the configuration of its receiver."""

import pulumi
import pulumi_webhooks as webhooks

config = pulumi.Config()
url = config.require("url")

jobs = webhooks.WebhookEndpoint("jobs", url=url, type="development")

pulumi.export("jobsId", jobs.id)

# Everything a receiver needs. It is secret, because the signing secret is.
pulumi.export(
    "receiver",
    pulumi.Output.all(config.require_secret("signingSecret"), jobs.id).apply(
        lambda values: {
            "version": 1,
            "secrets": [values[0]],
            "endpoints": {"jobs": {"id": values[1], "url": url, "type": "development"}},
        }
    ),
)
