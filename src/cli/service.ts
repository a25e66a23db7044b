import { type Account, openAccount } from "./account";
import { findConfiguration } from "./configuration";
import { CliError } from "./errors";
import type { Pulumi } from "./pulumi";

export interface ServiceOptions {
  readonly pulumi: Pulumi;
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Opens the service as the stack in this folder says, then as the environment says. Where there is no Pulumi CLI, project or
 * stack, the environment alone decides. The caller closes the client.
 *
 * @throws CliError `SETTINGS_INVALID`, `PULUMI_MISSING` or `PULUMI_FAILED`
 */
export async function openService({ pulumi, environment = process.env }: ServiceOptions): Promise<Account> {
  const { configuration = {}, absence } = await findConfiguration(pulumi);
  const look = (name: string) => configuration[name]?.value;
  if (absence !== undefined && !(environment.WEBHOOKS_BASE_URL && environment.WEBHOOKS_API_KEY))
    throw new CliError(
      "SETTINGS_INVALID",
      `the service's base URL and API key are unknown, because ${absence}, and the environment does not have both. Run the ` +
        "command in the folder of a Pulumi program whose stack has webhooks:baseUrl and webhooks:apiKey (--stack names another " +
        "stack), or set WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY",
    );
  return openAccount(look, environment);
}
