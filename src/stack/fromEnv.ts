import type { Receiver } from "../receiver";
import { ReceiverConfigError } from "./error";
import { howToGetIt, parseConfig } from "./parse";
import { type ConfiguredReceiverOptions, configuredReceiver } from "./receiver";

export interface EnvSource {
  /** The environment variable that holds the configuration as JSON. Default: `WEBHOOK_RECEIVER`. */
  readonly variable?: string | undefined;
}

/**
 * A receiver from an environment variable: for production. A rotation takes a restart, which its `fingerprint` can
 * trigger; for one without, see `receiverFromFile`.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 */
export function receiverFromEnv(
  { variable = "WEBHOOK_RECEIVER" }: EnvSource,
  options: ConfiguredReceiverOptions,
): Receiver {
  const text = process.env[variable];
  if (text === undefined || text === "") {
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      `the environment variable ${variable} is not set: give it what ${howToGetIt} prints`,
    );
  }
  return configuredReceiver(parseConfig(text, { where: `in ${variable}` }), options);
}
