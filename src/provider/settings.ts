import { type ConnectionOptions, connectionProblems } from "../client/options";
import { mistakeInSeconds } from "../shared/optionChecks";

/** Where the service is and how to talk to it: the options of its client. */
interface Settings extends ConnectionOptions {
  /** For a whole operation, in milliseconds. */
  readonly timeoutMs: number;
}

/** What a registration may do if the service already has such an endpoint. */
export const IF_EXISTS = ["fail", "adopt", "register"] as const;
export type IfExists = (typeof IF_EXISTS)[number];

interface Setting {
  /** The environment variable that may hold it. In a configuration, it is `webhooks:` and its name. */
  readonly variable: string;
  /** Of a `WebhooksProvider` and of the plugin's schema. A configuration and a variable hold it as text. */
  readonly type: "string" | "number" | "boolean";
  /** What is missing without it. Absent if a run needs no value. */
  readonly neededAs?: string;
  /** Whether Pulumi keeps it encrypted, whatever the program passes. */
  readonly isSecret?: true;
  /** As a configuration would hold it. */
  readonly byDefault?: string;
  /** Returns what is wrong with a value, or false. Those of `ConnectionOptions` have none: `connectionProblems` checks them. */
  readonly problem?: (text: string) => string | false;
}

/** Everything about the settings but their sentences, which stand at `WebhooksProviderArgs`, in the plugin's schema and in docs/resource.md. */
export const SETTINGS = {
  baseUrl: { variable: "WEBHOOKS_BASE_URL", type: "string", neededAs: "the service's base URL" },
  apiKey: { variable: "WEBHOOKS_API_KEY", type: "string", neededAs: "the service's API key", isSecret: true },
  apiKeyHeader: { variable: "WEBHOOKS_API_KEY_HEADER", type: "string" },
  apiKeyScheme: { variable: "WEBHOOKS_API_KEY_SCHEME", type: "string" },
  timeoutSeconds: {
    variable: "WEBHOOKS_TIMEOUT_SECONDS",
    type: "number",
    byDefault: "30",
    problem: mistakeInSeconds,
  },
  showResponses: {
    variable: "WEBHOOKS_SHOW_RESPONSES",
    type: "boolean",
    byDefault: "false",
    problem: (text) => text !== "true" && text !== "false" && "must be true or false",
  },
  ifExists: {
    variable: "WEBHOOKS_IF_EXISTS",
    type: "string",
    byDefault: "fail",
    problem: (text) => !isIfExists(text) && "must be fail, adopt or register",
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Where a `WebhooksProvider` passes its own name to the plugin. It is not a setting: nothing else sets it. */
export const PROVIDER_NAME_KEY = "webhooks:providerName";

/** A query runs in the program, and finds what the program has set there. */
const OTHER_PROCESS =
  ". (The provider is another process than the program, so it does not see what the program puts into process.env.)";

/** Looks up a setting in a provider's or a stack's configuration, by its name there, such as `webhooks:apiKey`. */
export type Configuration = (key: string) => string | undefined;

type WithStack = (command: string) => string | undefined;

export interface ResolvedSettings {
  readonly settings: Settings;
  /** Whether warnings show the service's responses to requests that it refused. */
  readonly showResponses: boolean;
  /** For resources that do not say it themselves. */
  readonly ifExists: IfExists;
  /** The name of the `WebhooksProvider`; empty for the default provider. */
  readonly providerName: string;
}

/**
 * Returns the settings of a run: from the configuration first, then from the environment. An empty string counts as not set.
 * Returns every problem instead when a setting is missing or invalid, each with the places where it can be set, and whether one is missing.
 *
 * @param withStack names the stack in a command line, for a reader that no WebhooksProvider reaches; returns undefined if there is no stack.
 *   Default: the command acts on the selected stack
 */
export function resolveSettings(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
  withStack?: WithStack,
): ResolvedSettings | { readonly problems: string[]; readonly isIncomplete: boolean } {
  const problems: string[] = [];
  let isIncomplete = false;
  const texts: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const { variable, neededAs, byDefault, problem }: Setting = SETTINGS[name];
    const text = configuration(`webhooks:${name}`) || environment[variable] || byDefault;
    if (text !== undefined) texts[name] = text;
    const isMissing = text === undefined && neededAs !== undefined;
    isIncomplete ||= isMissing;
    const where = `set it with ${placesOf(name, withStack)}`;
    if (isMissing) problems.push(`${neededAs} is missing; ${where}${withStack ? "" : OTHER_PROCESS}`);
    const wrong = text !== undefined && problem?.(text);
    if (wrong) problems.push(`${name} ${wrong}; ${where}`);
  }
  const { baseUrl = "", apiKey = "", apiKeyHeader, apiKeyScheme, timeoutSeconds, ifExists = "" } = texts;
  const settings = { baseUrl, apiKey, apiKeyHeader, apiKeyScheme, timeoutMs: Number(timeoutSeconds) * 1000 };
  for (const { option, problem } of connectionProblems(settings)) {
    if (settings[option] !== "")
      problems.push(`${option} ${problem}; set it with ${placesOf(option, withStack)}`);
  }
  if (problems.length > 0 || !isIfExists(ifExists)) return { problems, isIncomplete };
  const showResponses = texts.showResponses === "true";
  return { settings, showResponses, ifExists, providerName: configuration(PROVIDER_NAME_KEY) ?? "" };
}

/** Returns the places where a setting can be set, for a message. */
function placesOf(name: SettingName, withStack?: WithStack): string {
  const { isSecret, variable }: Setting = SETTINGS[name];
  const command = `pulumi config set${isSecret ? " --secret" : ""} webhooks:${name} …`;
  const inEnvironment = `the environment variable ${variable}`;
  if (withStack === undefined) return `"${command}", ${inEnvironment}, or ${name} of a WebhooksProvider`;
  const inStack = withStack(command);
  return inStack === undefined ? inEnvironment : `"${inStack}" or ${inEnvironment}`;
}

function isIfExists(text: string): text is IfExists {
  return IF_EXISTS.some((each) => each === text);
}

/** Returns a setting that a native provider holds as any value, as a configuration holds it. */
export function settingText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
