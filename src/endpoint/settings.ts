import { connectionProblems } from "../client/options";

/** Where the service is and how to speak to it. */
export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiKeyHeader?: string;
  readonly apiKeyScheme?: string;
  /** For a whole operation, in seconds. */
  readonly timeoutSeconds: number;
}

export const settingNames = ["baseUrl", "apiKey", "apiKeyHeader", "apiKeyScheme", "timeoutSeconds"] as const;
export type SettingName = (typeof settingNames)[number];

/** Where a setting may stand, besides an explicit `WebhooksProvider`. */
const environmentNames: Readonly<Record<SettingName, string>> = {
  baseUrl: "WEBHOOKS_BASE_URL",
  apiKey: "WEBHOOKS_API_KEY",
  apiKeyHeader: "WEBHOOKS_API_KEY_HEADER",
  apiKeyScheme: "WEBHOOKS_API_KEY_SCHEME",
  timeoutSeconds: "WEBHOOKS_TIMEOUT_SECONDS",
};

/** Looks a setting up in a provider's or a stack's configuration, by its name there, such as `webhooks:apiKey`. */
export type Configuration = (key: string) => string | undefined;

/**
 * The settings of a run: configuration first, then environment; an empty text counts as not set.
 * With problems instead when a setting is missing or malformed: all of them, each with the places where it can be set.
 */
export function resolveSettings(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
): { settings: Settings } | { problems: string[] } {
  const look = (name: SettingName) =>
    configuration(`webhooks:${name}`) || environment[environmentNames[name]] || undefined;
  const problems: string[] = [];
  const need = (name: SettingName, what: string): string => {
    const value = look(name);
    if (value === undefined) problems.push(`${what} is missing; set it with ${places(name)}`);
    return value ?? "";
  };
  const baseUrl = need("baseUrl", "the service's base URL");
  const apiKey = need("apiKey", "the service's API key");
  const apiKeyHeader = look("apiKeyHeader");
  const apiKeyScheme = look("apiKeyScheme");
  const timeoutSeconds = Number(look("timeoutSeconds") ?? 30);
  if (!(timeoutSeconds > 0 && timeoutSeconds <= 3600)) {
    problems.push(
      `timeoutSeconds must be a number of seconds above 0, at most 3600; set it with ${places("timeoutSeconds")}`,
    );
  }
  const settings: Settings = {
    baseUrl,
    apiKey,
    ...(apiKeyHeader === undefined ? {} : { apiKeyHeader }),
    ...(apiKeyScheme === undefined ? {} : { apiKeyScheme }),
    timeoutSeconds,
  };
  for (const { option, problem } of connectionProblems(settings)) {
    if (settings[option] !== "") problems.push(`${option} ${problem}; set it with ${places(option)}`);
  }
  return problems.length > 0 ? { problems } : { settings };
}

/** The places where a setting can be set, as a message names them. */
function places(name: SettingName): string {
  const secret = name === "apiKey" ? " --secret" : "";
  return `"pulumi config set${secret} webhooks:${name} …", the environment variable ${environmentNames[name]}, or ${name} of a WebhooksProvider`;
}
