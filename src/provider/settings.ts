import { type ConnectionOptions, connectionProblems } from "../client/options";

/** Where the service is and how to talk to it. */
interface Settings extends ConnectionOptions {
  /** For a whole operation, in seconds. */
  readonly timeoutSeconds: number;
}

/** Where a setting may come from, besides an explicit `WebhooksProvider` and the stack's configuration. */
export const ENVIRONMENT_NAMES = {
  baseUrl: "WEBHOOKS_BASE_URL",
  apiKey: "WEBHOOKS_API_KEY",
  apiKeyHeader: "WEBHOOKS_API_KEY_HEADER",
  apiKeyScheme: "WEBHOOKS_API_KEY_SCHEME",
  timeoutSeconds: "WEBHOOKS_TIMEOUT_SECONDS",
  showResponses: "WEBHOOKS_SHOW_RESPONSES",
  ifExists: "WEBHOOKS_IF_EXISTS",
} as const;
export type SettingName = keyof typeof ENVIRONMENT_NAMES;

export const SETTING_NAMES = Object.keys(ENVIRONMENT_NAMES) as SettingName[];

/** What a registration may do if the service already has such an endpoint. */
export const IF_EXISTS = ["fail", "adopt", "register"] as const;
export type IfExists = (typeof IF_EXISTS)[number];

/** Where a `WebhooksProvider` passes its own name to the plugin. It is not a setting: nothing else sets it. */
export const PROVIDER_NAME_KEY = "webhooks:providerName";

/** A query runs in the program, and finds what the program has set there. */
const OTHER_PROCESS =
  ". (The provider is another process than the program, so it does not see what the program puts into process.env.)";

/** Looks up a setting in a provider's or a stack's configuration, by its name there, such as `webhooks:apiKey`. */
export type Configuration = (key: string) => string | undefined;

export interface ResolvedSettings {
  readonly settings: Settings;
  /** Whether warnings show the service's responses to requests that it refused. */
  readonly showResponses: boolean;
  /** For resources that do not say it themselves. */
  readonly ifExists: IfExists;
  /** The name of the `WebhooksProvider`; empty for the default provider, and for one in the state of release 0.1.0. */
  readonly providerName: string;
}

/**
 * Returns the settings of a run: from the configuration first, then from the environment. An empty string counts as not set.
 * Returns every problem instead when a setting is missing or invalid, each with the places where it can be set.
 *
 * @param withStack names the stack in a command line, for a reader that no WebhooksProvider reaches. Default: the command acts on the
 *   selected stack
 */
export function resolveSettings(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
  withStack?: (command: string) => string,
): ResolvedSettings | { problems: string[] } {
  const look = (name: SettingName) =>
    configuration(`webhooks:${name}`) || environment[ENVIRONMENT_NAMES[name]] || undefined;
  const problems: string[] = [];
  /** Returns the places where a setting can be set, for a message. */
  const places = (name: SettingName) => {
    const command = `pulumi config set${name === "apiKey" ? " --secret" : ""} webhooks:${name} …`;
    const variable = `the environment variable ${ENVIRONMENT_NAMES[name]}`;
    return withStack
      ? `"${withStack(command)}" or ${variable}`
      : `"${command}", ${variable}, or ${name} of a WebhooksProvider`;
  };
  const need = (name: SettingName, what: string): string => {
    const value = look(name);
    if (value === undefined)
      problems.push(`${what} is missing; set it with ${places(name)}${withStack ? "" : OTHER_PROCESS}`);
    return value ?? "";
  };
  const baseUrl = need("baseUrl", "the service's base URL");
  const apiKey = need("apiKey", "the service's API key");
  const timeoutSeconds = Number(look("timeoutSeconds") ?? "30");
  if (!(timeoutSeconds > 0 && timeoutSeconds <= 3600)) {
    problems.push(
      `timeoutSeconds must be a number of seconds above 0, at most 3600; set it with ${places("timeoutSeconds")}`,
    );
  }
  const showResponses = look("showResponses") ?? "false";
  if (showResponses !== "true" && showResponses !== "false")
    problems.push(`showResponses must be true or false; set it with ${places("showResponses")}`);
  const ifExists = IF_EXISTS.find((each) => each === (look("ifExists") ?? "fail"));
  if (ifExists === undefined)
    problems.push(`ifExists must be fail, adopt or register; set it with ${places("ifExists")}`);
  const [apiKeyHeader, apiKeyScheme] = [look("apiKeyHeader"), look("apiKeyScheme")];
  const settings: Settings = { baseUrl, apiKey, apiKeyHeader, apiKeyScheme, timeoutSeconds };
  for (const { option, problem } of connectionProblems(settings)) {
    if (settings[option] !== "") problems.push(`${option} ${problem}; set it with ${places(option)}`);
  }
  if (problems.length > 0 || ifExists === undefined) return { problems };
  return {
    settings,
    showResponses: showResponses === "true",
    ifExists,
    providerName: configuration(PROVIDER_NAME_KEY) ?? "",
  };
}

/** Returns a setting that a native provider holds as any value, as a configuration holds it. */
export function settingText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
