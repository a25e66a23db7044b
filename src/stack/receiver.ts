import type { Receiver, ReceiverOptions } from "../receiver";
import { startedReceiver } from "../receiver/receiver";
import type { ReceiverConfig } from "./config";

/** A receiver's options, apart from its secrets. A tolerance given here overrides the one of the configuration. */
export type ConfiguredReceiverOptions = Omit<ReceiverOptions, "secrets">;

export function configuredReceiver(
  { secrets, toleranceSeconds }: ReceiverConfig,
  options: ConfiguredReceiverOptions,
  reload?: () => Promise<readonly string[]>,
): Receiver {
  const given = options.toleranceSeconds ?? toleranceSeconds;
  return startedReceiver({ ...options, toleranceSeconds: given, secrets: reload ?? secrets }, secrets);
}
