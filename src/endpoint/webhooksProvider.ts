import * as pulumi from "@pulumi/pulumi";
import { settingNames } from "./settings";

/** Settings of one account; each left out is taken from the stack's configuration, then from the environment. */
export interface WebhooksProviderArgs {
  /** Where the service's API is, such as `https://api.example.com/v1`. */
  baseUrl?: pulumi.Input<string>;
  /** Kept as a secret, wherever it comes from. */
  apiKey?: pulumi.Input<string>;
  /** The header that carries the key. Default: `X-Api-Key`. */
  apiKeyHeader?: pulumi.Input<string>;
  /** What stands before the key in the header, such as `Bearer`. Default: nothing. */
  apiKeyScheme?: pulumi.Input<string>;
  /** For a whole operation, in seconds. Default: 30; one attempt takes at most 10. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * An account at the webhook service, for programs that use several: pass it as the `provider` option of an endpoint.
 * Another key or base URL later replaces no endpoint.
 *
 * @example
 * const staging = new WebhooksProvider("staging", { baseUrl: "https://staging.example.com", apiKey: stagingKey });
 * new WebhookEndpoint("jobs", { url, type: "development" }, { provider: staging });
 */
export class WebhooksProvider extends pulumi.ProviderResource {
  constructor(name: string, args: WebhooksProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    const stack = new pulumi.Config("webhooks");
    const settings: Record<string, pulumi.Input<string> | undefined> = {};
    for (const setting of settingNames)
      settings[`webhooks:${setting}`] = text(args[setting]) ?? stack.get(setting);
    // The engine masks only secrets of the stack's configuration: one that was passed plain is made secret here.
    const apiKey = settings["webhooks:apiKey"];
    if (apiKey !== undefined) settings["webhooks:apiKey"] = pulumi.secret(apiKey);
    super("pulumi-nodejs", name, settings, opts);
  }
}

/** A provider's inputs are texts. */
function text(value: pulumi.Input<string | number> | undefined): pulumi.Output<string> | undefined {
  return value === undefined ? undefined : pulumi.output(value).apply(String);
}
