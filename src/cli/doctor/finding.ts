import type { CodedError } from "../../shared/codedError";
import type { Account } from "../account";
import type { Inventory } from "../inventory/inventory";
import type { Holder } from "../inventory/owner";
import type { Stacks } from "../inventory/stacks";
import type { Pulumi } from "../pulumi";

/** What `doctor` can find, besides the codes of errors. Stable; `docs/errors.md` lists them. */
export type FindingCode =
  | "CLOCK_DIFFERS"
  | "LIST_PARTIAL"
  | "STACK_UNREADABLE"
  | "REGISTRATION_PENDING"
  | "OPERATION_INTERRUPTED"
  | "ENDPOINT_GONE"
  | "DUPLICATE"
  | "MANAGED_TWICE"
  | "UNMANAGED"
  | "OTHER_ACCOUNT"
  | "RECEIVER_OUTPUT_MISSING"
  | "NO_STACK"
  | "VERSION_OLD";

/** The others are errors. */
const NOTES: readonly FindingCode[] = ["UNMANAGED", "RECEIVER_OUTPUT_MISSING", "NO_STACK", "VERSION_OLD"];

/** Something that `doctor` found. */
export interface Finding {
  /** Only errors make the exit status 1. */
  readonly level: "error" | "note";
  /** A `FindingCode`, or the code of an error. */
  readonly code: string;
  readonly message: string;
  /** What to do, to be pasted: a command line, with a comment. */
  readonly remedy: string;
}

/** What `doctor` looked at. */
export interface Seen {
  readonly pulumi: Pulumi;
  readonly stacks: Stacks;
  readonly versions: Readonly<Record<string, string | null>>;
  readonly account: Account | undefined;
  readonly inventory: Inventory | undefined;
  /** What a state has, and the service has confirmed to have no longer. */
  readonly gone: readonly Holder[];
  /** Why the service could not be asked. */
  readonly error: CodedError | undefined;
  /** The service's clock less this machine's, in seconds; null if unknown. */
  readonly clockDifferenceSeconds: number | null;
}

export function found(
  code: FindingCode,
  what: Pick<Finding, "message" | "remedy"> & Partial<Finding>,
): Finding {
  return { level: NOTES.includes(code) ? "note" : "error", code, ...what };
}
