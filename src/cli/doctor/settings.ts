import { originOf } from "../../endpoint/origin";
import {
  environmentNameOf,
  resolveSettings,
  SETTING_DEFAULTS,
  SETTING_NAMES,
  type SettingName,
} from "../../endpoint/settings";
import type { FoundConfiguration, StackConfiguration } from "../configuration";

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
  found: FoundConfiguration | undefined,
  environment: NodeJS.ProcessEnv,
): ShownSettings {
  const configuration = found?.configuration ?? {};
  const entries = SETTING_NAMES.map((name) => [name, shownSetting(name, configuration, environment)]);
  return Object.fromEntries(entries);
}

function shownSetting(
  name: SettingName,
  configuration: StackConfiguration,
  environment: NodeJS.ProcessEnv,
): ShownSetting {
  const { value: inStack, secret = false } = configuration[`webhooks:${name}`] ?? {};
  const variable = environmentNameOf(name);
  const value = inStack || environment[variable] || null;
  if (value === null) return { value: SETTING_DEFAULTS[name] ?? null, from: "default", name: null };
  const from = inStack ? "stack" : "environment";
  const source = { stack: `webhooks:${name}`, environment: variable }[from];
  const shown = {
    value: mayShow(name, value, secret && from === "stack") ? value : null,
    from,
    name: source,
  } as const;
  return name === "apiKey" ? { ...shown, fingerprint: fingerprintOf(value) } : shown;
}

/** A base URL that the client would refuse may hold a password. */
function mayShow(name: SettingName, value: string, isSecret: boolean): boolean {
  if (isSecret || name === "apiKey") return false;
  if (name !== "baseUrl") return true;
  const resolved = resolveSettings((key) => (key === "webhooks:baseUrl" ? value : "x"), {});
  return !("problems" in resolved) || !resolved.problems.some((problem) => problem.startsWith("baseUrl "));
}

function fingerprintOf(apiKey: string): string {
  return originOf({ baseUrl: "https://localhost", apiKey, providerName: "" }).account;
}
