import type { PendingError } from "../../../provider/errors";
import type { CliError } from "../../errors";

/** What `doctor` can find, besides the codes of errors. Stable; `docs/errors.md` lists them. */
type FindingCode =
  | "CLOCK_DIFFERS"
  | "LIST_PARTIAL"
  | "OPERATION_INTERRUPTED"
  | "SETTINGS_OUTDATED"
  | "RUN_UNDER_WAY"
  | "STACK_LOCKED"
  | "ENDPOINT_GONE"
  | "DUPLICATE"
  | "MANAGED_TWICE"
  | "UNMANAGED"
  | "RECEIVER_OUTPUT_MISSING"
  | "NO_STACK"
  | "VERSION_OLD";

/** The others are errors. */
const NOTES: readonly string[] = [
  "UNMANAGED",
  "RECEIVER_OUTPUT_MISSING",
  "NO_STACK",
  "VERSION_OLD",
  "RUN_UNDER_WAY",
];

export interface Finding {
  /** Only errors make the exit status 1. */
  readonly level: "error" | "note";
  /** A `FindingCode`, or the code of an error. */
  readonly code: string;
  readonly message: string;
  /** What to do, to be pasted: a command line, with a comment. */
  readonly remedy: string;
  /** What to do instead, to be pasted, if nobody wants what the remedy brings about. */
  readonly otherwise?: string;
}

export function found(
  code: FindingCode | CliError["code"] | PendingError["code"],
  what: Pick<Finding, "message" | "remedy"> & Partial<Finding>,
): Finding {
  return { level: NOTES.includes(code) ? "note" : "error", code, ...what };
}
