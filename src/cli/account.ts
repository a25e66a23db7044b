import { WebhooksClient } from "../client";
import type { ConnectionOptions } from "../client/options";
import { type Origin, originOf } from "../endpoint/origin";
import { type Configuration, resolveSettings } from "../endpoint/settings";
import { patienceFor } from "../settlement/time";
import { CliError } from "./errors";
import { hideValue } from "./knownSecrets";

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
}

/** Opens an account with settings from a configuration, then from the environment. @throws CliError `SETTINGS_INVALID` */
export function openAccount(configuration: Configuration, environment: NodeJS.ProcessEnv): Account {
  const resolved = resolveSettings(configuration, environment);
  if ("problems" in resolved) throw new CliError("SETTINGS_INVALID", resolved.problems.join("; "));
  const { timeoutSeconds, ...settings } = resolved.settings;
  hideValue(settings.apiKey);
  const timeoutMs = timeoutSeconds * 1000;
  return {
    origin: originOf({ ...settings, providerName: resolved.providerName }),
    connection: settings,
    client: new WebhooksClient({ ...settings, timeoutMs }),
    timeoutMs,
    patienceMs: patienceFor(timeoutMs),
    showResponses: resolved.showResponses,
  };
}
