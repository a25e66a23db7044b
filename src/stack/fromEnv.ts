import type { Receiver } from "../receiver";
import type { NoEvents } from "../receiver/types";
import { NOT_SHOWN, shown } from "../shared/shown";
import { ReceiverConfigError } from "./config";
import { HOW_TO_GET_IT, parseConfig } from "./parse";
import {
  type ConfiguredQueueOptions,
  type ConfiguredReceiverOptions,
  checkArguments,
  configuredReceiver,
} from "./receiver";

/** Where `receiverFromEnv` reads the configuration. */
export interface EnvSource {
  /** The name of the environment variable that holds the configuration as JSON. Default: `WEBHOOK_RECEIVER`. */
  readonly variable?: string | undefined;
}

/**
 * Creates a receiver from an environment variable: for production. A rotation needs a restart, which a change of the
 * configuration's `fingerprint` can trigger; `receiverFromFile` needs none.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 * @throws TypeError for an unknown option; see also `createReceiver`
 */
export function receiverFromEnv<Events extends object = NoEvents>(
  source: EnvSource,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
): Receiver {
  checkArguments("receiverFromEnv", { source, known: ["variable"], options });
  const { variable = "WEBHOOK_RECEIVER" } = source;
  const text = process.env[variable];
  if (text === undefined || text === "") {
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      shown(variable) === variable
        ? `the environment variable ${variable} is ${text === "" ? "empty. If a command was to fill it, that failed" : "not set"}: set it to the output of ${HOW_TO_GET_IT}`
        : `receiverFromEnv: variable does not name an environment variable that is set. ${NOT_SHOWN} the name of the variable, not its value`,
    );
  }
  return configuredReceiver(parseConfig(text, { where: `in ${variable}` }), options);
}
