import * as pulumi from "@pulumi/pulumi";
import { PROVIDER_NAME_KEY, SETTING_NAMES, SETTINGS, settingText } from "../provider/settings";
import { unknownOptions } from "../shared/optionChecks";
import { isDefaultProvider } from "../shared/urn";
import { type ProgramSettings, stackSettings } from "./stackSettings";

/** The settings of one account. A setting left out comes from the stack's configuration, then from the environment. */
export interface WebhooksProviderArgs {
  /** The base URL of the service's API, such as `https://api.example.com/v1`. */
  baseUrl?: pulumi.Input<string> | undefined;
  /** The service's API key. Always kept as a secret. */
  apiKey?: pulumi.Input<string> | undefined;
  /** The header that carries the key. Default: `X-Api-Key`. */
  apiKeyHeader?: pulumi.Input<string> | undefined;
  /** A word before the key in the header, such as `Bearer`. Default: none. */
  apiKeyScheme?: pulumi.Input<string> | undefined;
  /** The time limit of an operation with its retries, in seconds, at most 3600. Default: 30. One attempt takes at most 10. */
  timeoutSeconds?: pulumi.Input<number> | undefined;
  /**
   * Whether a warning shows the service's response to a request that it refuses: up to 500 characters, without the API
   * key. The response may hold an endpoint's url. Default: false.
   */
  showResponses?: pulumi.Input<boolean> | undefined;
  /** The `ifExists` of endpoints that have none of their own: `"fail"` (the default), `"adopt"` or `"register"`. */
  ifExists?: pulumi.Input<"fail" | "adopt" | "register"> | undefined;
}

/**
 * An account at the webhook service, for programs that use several. Pass it as the `provider` option of an endpoint. A later
 * change of its key replaces no endpoint.
 *
 * @example
 * const staging = new WebhooksProvider("staging", { baseUrl: "https://staging.example.com", apiKey: stagingKey });
 * new WebhookEndpoint("jobs", { url, type: "development" }, { provider: staging });
 */
export class WebhooksProvider extends pulumi.ProviderResource {
  /** @internal The settings with which `getWebhookEndpoint` and `getWebhookEndpoints` reach the account. */
  readonly programSettings: ProgramSettings;

  constructor(name: string, args: WebhooksProviderArgs = {}, opts?: pulumi.ResourceOptions) {
    const problems = unknownOptions(args, SETTING_NAMES, "an option of a WebhooksProvider");
    if (isDefaultProvider(name)) problems.push("the engine's own provider has this name; choose another");
    if (problems.length > 0)
      throw new pulumi.RunError(`WebhooksProvider ${JSON.stringify(name)}: ${problems.join("; ")}`);
    const settings = stackSettings();
    for (const name of SETTING_NAMES) {
      const key = `webhooks:${name}`;
      // A provider's inputs are strings.
      if (args[name] !== undefined)
        settings[key] = pulumi.output(args[name]).apply(settingText) as pulumi.Output<string>;
      // The engine masks only secrets. A key that was passed as a plain string becomes one here.
      if ("isSecret" in SETTINGS[name] && settings[key] !== undefined)
        settings[key] = pulumi.secret(settings[key]);
    }
    super("pulumi-nodejs", name, { ...settings, [PROVIDER_NAME_KEY]: name }, opts);
    this.programSettings = settings;
  }
}
