import type { QueueReceiverOptions, Receiver, ReceiverOptions } from "../receiver";
import { startedReceiver } from "../receiver/receiver";
import type { NoEvents } from "../receiver/types";
import type { ReceiverConfig } from "./config";

/** A receiver's options, apart from its secrets. A tolerance given here overrides the one of the configuration. */
export type ConfiguredReceiverOptions<Events extends object = NoEvents> = Omit<
  ReceiverOptions<Events>,
  "secrets"
>;

/** The same of a receiver that hands its deliveries to a queue. */
export type ConfiguredQueueOptions = Omit<QueueReceiverOptions, "secrets">;

/** @param reload reads the secrets again. The receiver has those of the configuration until its first answer. */
export function configuredReceiver<Events extends object>(
  { secrets, toleranceSeconds }: ReceiverConfig,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
  reload?: () => Promise<readonly string[]>,
): Receiver {
  const given = options.toleranceSeconds ?? toleranceSeconds;
  return startedReceiver({ ...options, toleranceSeconds: given, secrets: reload ?? secrets }, secrets);
}
