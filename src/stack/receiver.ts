import type { Receiver, ReceiverOptions } from "../receiver";
import { startedReceiver } from "../receiver/receiver";
import type { ReceiverConfig } from "./config";

/** A receiver's options besides what its configuration says. A tolerance given here is used instead. */
export type ConfiguredReceiverOptions = Omit<ReceiverOptions, "secrets">;

export function configuredReceiver(
  { secrets, toleranceSeconds }: ReceiverConfig,
  options: ConfiguredReceiverOptions,
  reload?: () => Promise<readonly string[]>,
): Receiver {
  const given = options.toleranceSeconds ?? toleranceSeconds;
  return startedReceiver({ ...options, toleranceSeconds: given, secrets: reload ?? secrets }, secrets);
}
