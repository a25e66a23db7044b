import { createReceiver, type Receiver, type ReceiverOptions } from "../receiver";
import type { ReceiverConfig } from "./config";

/** A receiver's options besides what its configuration says. A tolerance given here is used instead. */
export type ConfiguredReceiverOptions = Omit<ReceiverOptions, "secrets">;

export function configuredReceiver(
  { secrets, toleranceSeconds }: ReceiverConfig,
  options: ConfiguredReceiverOptions,
  reload?: () => Promise<readonly string[]>,
): Receiver {
  return createReceiver({ toleranceSeconds, ...options, secrets: reload ?? secrets });
}
