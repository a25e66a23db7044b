import {
  environmentNameOf,
  SETTING_DEFAULTS,
  SETTING_NAMES,
  type SettingName,
} from "../../provider/settings";
import type { Account } from "../account";
import type { Finding } from "./findings";

/** A setting, and where it comes from. */
export interface ShownSetting {
  /** Null if it is not set and has no default, or if its value is a secret. */
  readonly value: string | null;
  /** The key of the stack's configuration or the environment variable; null for the default. */
  readonly from: string | null;
  /** Of the API key, as the state records it. */
  readonly fingerprint?: string;
}

/** Returns each setting without the values of secrets. */
export function shownSettings(
  { configuration, origin }: Account,
  env: NodeJS.ProcessEnv,
): Record<string, ShownSetting> {
  const shown = (name: SettingName): ShownSetting => {
    const { value: inStack, secret = false } = configuration?.[`webhooks:${name}`] ?? {};
    const variable = environmentNameOf(name);
    const value = inStack || env[variable] || undefined;
    const from = inStack ? `webhooks:${name}` : value === undefined ? null : variable;
    if (name === "apiKey") return { value: null, from, fingerprint: origin.account };
    return { value: secret && inStack ? null : (value ?? SETTING_DEFAULTS[name] ?? null), from };
  };
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, shown(name)]));
}

/** Finds an API key in plain text in the stack's configuration. */
export function apiKeyFindings({ configuration, pulumi }: Account): Finding[] {
  const { value, secret } = configuration?.["webhooks:apiKey"] ?? {};
  if (!value || secret === true) return [];
  return [
    {
      level: "error",
      code: "SETTINGS_INVALID",
      message:
        "webhooks:apiKey is stored without --secret, so the stack's file holds the API key in plain text",
      remedy: `${pulumi.withStack("pulumi config set --secret webhooks:apiKey")}   # with a new key, if the file was committed`,
    },
  ];
}
