import type { WebhooksClient, WebhooksClientOptions } from "../client";
import { resolveSettings, SETTING_NAMES } from "../provider/settings";
import { originOf } from "../provider/state";
import { withClient } from "../provider/withClient";
import type { Origin } from "../shared/permanent";
import { isUrl, normalizeBaseUrl } from "../shared/url";
import { CliError } from "./errors";
import type { Found, Pulumi } from "./pulumi";
import type { Context } from "./run";

/** The service as the settings say: where it is, and which key it accepts. */
export interface Account {
  readonly origin: Origin;
  readonly client: WebhooksClient;
  /** How `client` reaches the service. Holds the API key. */
  readonly connection: WebhooksClientOptions & { readonly timeoutMs: number };
  /** That of the stack; undefined if there is none. */
  readonly configuration: Configuration | undefined;
}

/** Begins the message if the environment alone is to have the settings. */
export const NO_SETTINGS = "no stack has settings";

const NOT_READ =
  ". This command does not read what a program passes to a WebhooksProvider: set the variables to the settings of that account";

/** A stack's configuration, its secrets decrypted. */
type Configuration = Readonly<Record<string, { readonly value?: string; readonly secret?: boolean }>>;

/**
 * Opens the service for some work, and closes it. The settings are those of the stack in this folder, then those of the environment.
 * Where there is no Pulumi CLI, project or stack, the environment alone decides.
 *
 * @throws CliError `SETTINGS_INVALID`, `PULUMI_MISSING` or `PULUMI_FAILED`; or what the work throws
 */
export async function withAccount<T>(context: Context, work: (account: Account) => Promise<T>): Promise<T> {
  const { output, pulumi } = context;
  await refuseOtherProject(pulumi);
  const reading = pulumi.find<Configuration>(["config", "--json", "--show-secrets"]);
  const found = await output.during(() => "Reading the stack's settings…", reading);
  const resolved = resolve(context, found);
  const { settings, providerName } = resolved;
  const origin = originOf({ ...settings, providerName });
  const warn = (message: string) => output.warn(message);
  return withClient(resolved, warn, (client) =>
    work({ origin, client, connection: settings, configuration: found.value }),
  );
}

/**
 * Refuses a stack of another project, which its full name tells: Pulumi would read its state, and the settings of this project's stack of
 * that name.
 *
 * @throws CliError `WRONG_USE`
 */
async function refuseOtherProject(pulumi: Pulumi): Promise<void> {
  const { stack = "" } = pulumi;
  if (!/\/.*\//.test(stack)) return;
  const list = ["stack", "ls", "--json", "--fully-qualify-stack-names"];
  const { value = [] } = await pulumi.forStack(undefined).find<readonly { readonly name: string }[]>(list);
  if (!value.some(({ name }) => name === stack))
    throw new CliError(
      "WRONG_USE",
      `the project in this folder has no stack ${stack}: run the command in the folder of its project`,
    );
}

/** Returns the settings, and hides those that are secret. @throws CliError `SETTINGS_INVALID` */
function resolve({ env, output, pulumi }: Context, { value, whyNone }: Found<Configuration>) {
  for (const name of SETTING_NAMES) {
    const setting = value?.[`webhooks:${name}`];
    if (!setting?.value || !setting.secret) continue;
    output.remember(setting.value.replace(/\/+$/, ""));
    // Requests and the state have it in this spelling.
    if (isUrl(setting.value)) output.remember(normalizeBaseUrl(setting.value));
  }
  const withStack = whyNone === undefined ? pulumi.withStack : () => undefined;
  const result = resolveSettings((name) => value?.[name]?.value, env, withStack);
  if ("problems" in result) {
    const why = whyNone === undefined ? "" : `${NO_SETTINGS}, because ${whyNone}: `;
    const note = result.isIncomplete ? NOT_READ : "";
    throw new CliError("SETTINGS_INVALID", why + result.problems.join("; ") + note);
  }
  output.remember(result.settings.apiKey);
  return result;
}
