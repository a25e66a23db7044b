import type { KnownStack } from "../inventory/stacks";

/** What `doctor` can find, besides errors. Stable; `docs/command.md` lists them. */
type FindingCode =
  | "CLI_MISSING"
  | "CLI_OLD"
  | "CLOCK_DIFFERS"
  | "DUPLICATE"
  | "ENDPOINT_GONE"
  | "ENDPOINT_UNREADABLE"
  | "LEFTOVER"
  | "LIST_PARTIAL"
  | "MANAGED_TWICE"
  | "NODE_OLD"
  | "NO_STACK"
  | "OPERATION_INTERRUPTED"
  | "OTHER_BASE_URL"
  | "OTHER_KEY"
  | "PERHAPS_MANAGED"
  | "RECEIVER_OUTPUT_MISSING"
  | "OPERATIONS_SETTLED"
  | "REGISTRATION_IN_DOUBT"
  | "REGISTRATION_INTERRUPTED"
  | "REGISTRATION_PENDING"
  | "SDK_OLD"
  | "STACK_UNREADABLE"
  | "UNMANAGED";

/** Something that `doctor` found, and what to do about it. */
export interface Finding {
  /** Only errors make the exit status 1. */
  readonly level: "error" | "note";
  /** A `FindingCode`, or the code of an error. */
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** Returns a remedy whose commands name a stack with `--stack`, with the folder in which they find it. */
export function remedyFor({ isHere }: Pick<KnownStack, "isHere">, remedy: string): string {
  return isHere ? remedy : `Change to the folder of this stack's project. ${remedy}`;
}

export function error(code: FindingCode, message: string, remedy: string): Finding {
  return { level: "error", code, message, remedy };
}

export function note(code: FindingCode, message: string, remedy: string): Finding {
  return { level: "note", code, message, remedy };
}
