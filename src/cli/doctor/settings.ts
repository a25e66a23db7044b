import { environmentNameOf, SETTING_DEFAULTS, SETTING_NAMES } from "../../provider/settings";
import type { Account } from "../account";
import type { Finding } from "./findings";

/** A setting, and where it comes from. */
interface ShownSetting {
  readonly name: string;
  /** Of a secret, only that it is set; of the API key also its fingerprint, as the state has it. Null if it is not set. */
  readonly value: string | null;
  /** The key of the stack's configuration or the environment variable; null for the default. */
  readonly from: string | null;
}

export function shownSettings(
  { configuration, origin }: Account,
  env: NodeJS.ProcessEnv,
): readonly ShownSetting[] {
  return SETTING_NAMES.map((name) => {
    const { value: inStack, secret } = configuration?.[`webhooks:${name}`] ?? {};
    const variable = environmentNameOf(name);
    const from = inStack ? `webhooks:${name}` : env[variable] ? variable : null;
    if (name === "apiKey") return { name, value: `set (fingerprint ${origin.account})`, from };
    if (inStack && secret) return { name, value: "set", from };
    return { name, value: inStack || env[variable] || (SETTING_DEFAULTS[name] ?? null), from };
  });
}

/** Finds an API key in plain text in the stack's configuration. */
export function apiKeyFindings({ configuration, pulumi }: Account): Finding[] {
  const { value, secret } = configuration?.["webhooks:apiKey"] ?? {};
  if (!value || secret === true) return [];
  const message =
    "webhooks:apiKey is stored without --secret, so the stack's file holds the API key in plain text";
  const command = pulumi.withStack("pulumi config set --secret webhooks:apiKey");
  const remedy = `${command}   # with a new key, if the file was committed`;
  return [{ level: "error", code: "SETTINGS_INVALID", message, remedy }];
}
