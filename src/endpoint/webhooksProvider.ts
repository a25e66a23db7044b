import * as pulumi from "@pulumi/pulumi";
import { type SettingName, settingNames } from "./settings";

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

/** A program's settings by their names in a configuration, such as `webhooks:apiKey`. */
export type ProgramSettings = Record<string, pulumi.Input<string> | undefined>;

/**
 * An account at the webhook service, for programs that use several: pass it as the `provider` option of an endpoint.
 * Another key or base URL later replaces no endpoint.
 *
 * @example
 * const staging = new WebhooksProvider("staging", { baseUrl: "https://staging.example.com", apiKey: stagingKey });
 * new WebhookEndpoint("jobs", { url, type: "development" }, { provider: staging });
 */
export class WebhooksProvider extends pulumi.ProviderResource {
  /** @internal What `getWebhookEndpoint` and `getWebhookEndpoints` speak to the account with. */
  readonly programSettings: ProgramSettings;

  constructor(name: string, args: WebhooksProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    const settings = { ...stackSettings() };
    for (const setting of settingNames) {
      const value = args[setting];
      // A provider's inputs are texts.
      if (value !== undefined)
        settings[`webhooks:${setting}`] = pulumi.output(value).apply(textOf) as pulumi.Output<string>;
    }
    // The engine masks only secrets of the stack's configuration: one that was passed plain is made secret here.
    const apiKey = settings["webhooks:apiKey"];
    if (apiKey !== undefined) settings["webhooks:apiKey"] = pulumi.secret(apiKey);
    super("pulumi-nodejs", name, settings, opts);
    this.programSettings = settings;
  }
}

/** Undefined stays what it is, which the engine drops: a setting that is missing, not the text "undefined". */
function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** What the stack's configuration says. */
export function stackSettings(): ProgramSettings {
  const stack = new pulumi.Config("webhooks");
  const look = (setting: SettingName) =>
    setting === "apiKey" ? stack.getSecret(setting) : stack.get(setting);
  return Object.fromEntries(settingNames.map((setting) => [`webhooks:${setting}`, look(setting)]));
}
