import { fingerprintOfKey } from "../../endpoint/origin";
import {
  environmentNameOf,
  resolveSettings,
  SETTING_DEFAULTS,
  SETTING_NAMES,
  type SettingName,
} from "../../provider/settings";
import { mayBeKey } from "../../shared/mayBeKey";
import type { Found } from "../oldPulumi";
import type { StackConfiguration } from "../service";

/** A setting and where it comes from. */
export interface ShownSetting {
  /** Null if it is not set and has no default, or if its value is a secret. */
  readonly value: string | null;
  readonly from: "stack" | "environment" | "default";
  /** The key of the stack's configuration or the environment variable that it comes from; null for the default. */
  readonly name: string | null;
  /** Of the API key, as the state records it. */
  readonly fingerprint?: string;
}

export type ShownSettings = Readonly<Record<SettingName, ShownSetting>>;

/** Returns each setting without the values of secrets. */
export function shownSettings(
  found: Found<StackConfiguration> | undefined,
  environment: NodeJS.ProcessEnv,
): ShownSettings {
  const configuration = found?.value ?? {};
  const apiKey = foundSetting("apiKey", configuration, environment).value;
  const shown = (name: SettingName): ShownSetting => {
    const { value, isSecret, ...source } = foundSetting(name, configuration, environment);
    if (value === null) return { value: SETTING_DEFAULTS[name] ?? null, ...source };
    if (name === "apiKey") return { value: null, ...source, fingerprint: fingerprintOfKey(value) };
    const holdsKey = apiKey !== null && value.includes(apiKey);
    return { value: isSecret || holdsKey || isRefused(name, value) ? null : value, ...source };
  };
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, shown(name)])) as ShownSettings;
}

function foundSetting(
  name: SettingName,
  configuration: StackConfiguration,
  environment: NodeJS.ProcessEnv,
): Pick<ShownSetting, "value" | "from" | "name"> & { readonly isSecret: boolean } {
  const { value: inStack, secret: isSecret = false } = configuration[`webhooks:${name}`] ?? {};
  const variable = environmentNameOf(name);
  const inEnvironment = environment[variable];
  if (inStack) return { value: inStack, from: "stack", name: `webhooks:${name}`, isSecret };
  if (inEnvironment) return { value: inEnvironment, from: "environment", name: variable, isSecret: false };
  return { value: null, from: "default", name: null, isSecret: false };
}

/** A base URL that the client would refuse may hold a password, and a header or scheme a key. */
function isRefused(name: SettingName, value: string): boolean {
  if ((name === "apiKeyHeader" || name === "apiKeyScheme") && mayBeKey(value)) return true;
  const resolved = resolveSettings((key) => (key === `webhooks:${name}` ? value : undefined), {});
  return "problems" in resolved && resolved.problems.some((problem) => problem.startsWith(`${name} `));
}
