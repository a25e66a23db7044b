import { describeAnswer, hasAnswer } from "../endpoint/shownAnswer";
import { type Account, openAccount } from "./account";
import { findConfiguration, settingsIn } from "./configuration";
import { CliError } from "./errors";
import type { Output } from "./output";
import type { Found, Pulumi } from "./pulumi";

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
  const found = await findConfiguration(pulumi);
  const why = whyUnknown(found, environment);
  if (why !== undefined)
    throw new CliError(
      "SETTINGS_INVALID",
      `${why}. Run the ` +
        "command in the folder of a Pulumi program whose stack has webhooks:baseUrl and webhooks:apiKey (--stack names another " +
        "stack), or set WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY",
    );
  return openAccount(settingsIn(found), environment);
}

/** Opens the service for some work, and closes it. @throws CliError, or what the work throws */
export async function withService<T>(
  options: ServiceOptions & { readonly output: Output },
  work: (account: Account) => Promise<T>,
): Promise<T> {
  const account = await options.output.during(() => "Reading the stack's settings…", openService(options));
  try {
    return await work(account);
  } catch (error) {
    if (account.showResponses && hasAnswer(error))
      options.output.warn(describeAnswer(error, account.connection.apiKey));
    throw error;
  } finally {
    await account.client.close();
  }
}

/** Returns why neither a stack nor the environment says where the service is and which key it accepts, or undefined if one may. */
export function whyUnknown({ absence }: Found<unknown>, environment: NodeJS.ProcessEnv): string | undefined {
  if (absence === undefined || (environment.WEBHOOKS_BASE_URL && environment.WEBHOOKS_API_KEY))
    return undefined;
  return `the service's base URL and API key are unknown, because ${absence}, and the environment does not have both`;
}
