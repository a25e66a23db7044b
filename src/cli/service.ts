import { WebhooksClient } from "../client";
import type { ConnectionOptions } from "../client/options";
import { type Origin, originOf } from "../endpoint/origin";
import { type Configuration, resolveSettings } from "../provider/settings";
import { describeAnswer, hasAnswer } from "../provider/shownAnswer";
import { patienceFor } from "../settlement/time";
import { isUrl } from "../shared/url";
import { CliError } from "./errors";
import { hideKey, hideValue } from "./knownSecrets";
import type { Output } from "./oldOutput";
import { type Found, Pulumi } from "./oldPulumi";

/** Where endpoints are. */
export interface Account {
  readonly origin: Origin;
  /** How `client` reaches the service. Holds the API key. */
  readonly connection: ConnectionOptions;
  readonly client: WebhooksClient;
  readonly timeoutMs: number;
  /** How long after a registration was sent the service may still make its endpoint. */
  readonly patienceMs: number;
  /** Whether warnings show the service's responses to requests that it refused. */
  readonly showResponses: boolean;
  /** Returns a command line for a message that acts on this account: with `--stack` if the user named the stack. */
  readonly withStack: (command: string) => string;
}

/**
 * Opens an account with settings from a configuration, then from the environment.
 *
 * @param pulumi for the stack that has the configuration
 * @throws CliError `SETTINGS_INVALID`
 */
export function openAccount(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
  pulumi = new Pulumi(undefined),
): Account {
  const { withStack } = pulumi;
  const resolved = resolveSettings(configuration, environment, withStack);
  if ("problems" in resolved) throw new CliError("SETTINGS_INVALID", resolved.problems.join("; "));
  const { timeoutSeconds, ...settings } = resolved.settings;
  hideKey(settings.apiKey);
  const timeoutMs = timeoutSeconds * 1000;
  return {
    origin: originOf({ ...settings, providerName: resolved.providerName }),
    connection: settings,
    client: new WebhooksClient({ ...settings, timeoutMs }),
    timeoutMs,
    patienceMs: patienceFor(timeoutMs),
    showResponses: resolved.showResponses,
    withStack,
  };
}

/** A stack's configuration, its secrets decrypted, as `pulumi config --json --show-secrets` prints it. */
export type StackConfiguration = Readonly<
  Record<string, { readonly value?: string; readonly secret?: boolean }>
>;

const COMMAND = ["config", "--json", "--show-secrets"];

/** Returns the configuration of the stack. If its base URL or the header is a secret, nothing prints it from now on. @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED` */
export async function readConfiguration(pulumi: Pulumi): Promise<StackConfiguration> {
  const configuration = await pulumi.json<StackConfiguration>(COMMAND);
  hideSecretSettings(configuration);
  return configuration;
}

/**
 * Returns the configuration of the stack in this folder, if there is one. A stack that the user named must exist.
 *
 * @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED`
 */
export async function findConfiguration(pulumi: Pulumi): Promise<Found<StackConfiguration>> {
  if (pulumi.stack !== undefined) return { value: await readConfiguration(pulumi) };
  const found = await pulumi.find<StackConfiguration>(COMMAND);
  hideSecretSettings(found.value ?? {});
  return found;
}

/** The other settings are printed nowhere, or may be words of urls such as 30. */
function hideSecretSettings({
  "webhooks:apiKeyHeader": header,
  "webhooks:baseUrl": { value, secret } = {},
}: StackConfiguration): void {
  if (header?.value && header.secret) hideValue(header.value);
  if (!value || secret !== true) return;
  const spellings = isUrl(value) ? [value, new URL(value).href] : [value];
  for (const spelling of spellings) hideValue(spelling.replace(/(?<=.)\/+$/, ""));
}

/** Looks up settings in a configuration that was found. */
export function settingsIn({ value }: Found<StackConfiguration>): (name: string) => string | undefined {
  return (name) => value?.[name]?.value;
}

interface ServiceOptions {
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
  return openAccount(settingsIn(found), environment, pulumi);
}

/** Shows what the service answered to a request that it refused, if the settings say so. */
export function showAnswer(
  error: unknown,
  { showResponses, connection }: Account,
  warn: (text: string) => void,
): void {
  if (showResponses && hasAnswer(error)) warn(describeAnswer(error, connection.apiKey));
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
    showAnswer(error, account, (text) => options.output.warn(text));
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
