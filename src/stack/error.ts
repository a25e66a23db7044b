import { CodedError } from "../shared/codedError";

/**
 * - `CONFIG_MISSING`: the named place has no configuration
 * - `CONFIG_INVALID`: there is one, but no receiver can be created from it
 * - `PULUMI_MISSING`: the `pulumi` command cannot be run
 * - `STACK_UNREADABLE`: `pulumi stack output` failed
 */
export type ReceiverConfigErrorCode =
  | "CONFIG_MISSING"
  | "CONFIG_INVALID"
  | "PULUMI_MISSING"
  | "STACK_UNREADABLE";

/** A receiver's configuration is not available or cannot be used. Neither the message nor a property holds a secret. */
export class ReceiverConfigError extends CodedError<ReceiverConfigErrorCode> {
  /** Always `"ReceiverConfigError"`. */
  override readonly name = "ReceiverConfigError";
}
