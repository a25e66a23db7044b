import type { QueueReceiverOptions, Receiver, ReceiverOptions } from "../receiver";
import { checkOptions } from "../receiver/checks";
import { startedReceiver } from "../receiver/receiver";
import { OPTION_NAMES } from "../receiver/resolve";
import type { NoEvents } from "../receiver/types";
import type { ReceiverConfig } from "./config";

/** A receiver's options, apart from its secrets. A tolerance given here overrides the one of the configuration. */
export type ConfiguredReceiverOptions<Events extends object = NoEvents> = Omit<
  ReceiverOptions<Events>,
  "secrets"
>;

/** The same of a receiver that hands its deliveries to a queue. */
export type ConfiguredQueueOptions = Omit<QueueReceiverOptions, "secrets">;

const CONFIGURED = OPTION_NAMES.filter((name) => name !== "secrets");

/**
 * Checks the names of both arguments of a function that creates a receiver from a configuration, before the configuration is read.
 * @param owner the function, such as "receiverFromEnv"
 * @throws TypeError
 */
export function checkArguments(
  owner: string,
  { source, known, options }: { source: unknown; known: readonly string[]; options: unknown },
): void {
  checkOptions(`${owner}'s first argument`, source, known);
  checkOptions(`${owner}'s second argument`, options, CONFIGURED);
}

export function configuredReceiver<Events extends object>(
  { secrets, toleranceSeconds }: ReceiverConfig,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
  reload?: () => Promise<readonly string[]>,
): Receiver {
  const given = options.toleranceSeconds ?? toleranceSeconds;
  return startedReceiver({ ...options, toleranceSeconds: given, secrets: reload ?? secrets }, secrets);
}
