import { CodedError } from "../error";

/**
 * - `CONFIG_MISSING`: nothing is where the configuration should be
 * - `CONFIG_INVALID`: what is there is none that a receiver can be built from
 * - `PULUMI_MISSING`: there is no `pulumi` to run
 * - `STACK_UNREADABLE`: `pulumi stack output` failed
 */
export type ReceiverConfigErrorCode =
  | "CONFIG_MISSING"
  | "CONFIG_INVALID"
  | "PULUMI_MISSING"
  | "STACK_UNREADABLE";

/** A receiver's configuration that cannot be had or used. Neither the message nor a property holds a secret. */
export class ReceiverConfigError extends CodedError<ReceiverConfigErrorCode> {
  override readonly name = "ReceiverConfigError";
}
