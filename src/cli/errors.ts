import { join } from "node:path";
import { CodedError } from "../shared/codedError";

/** What a command of this package could not do. */
export class CliError extends CodedError<CliErrorCode> {
  override readonly name = "CliError";
}

type CliErrorCode =
  | "WRONG_USE"
  | "INTERRUPTED"
  | "UNEXPECTED"
  | "PULUMI_MISSING"
  | "PULUMI_FAILED"
  | "SETTINGS_INVALID"
  | "STACK_UNREADABLE"
  | "OWNERSHIP_UNKNOWN"
  | "NOT_ADOPTABLE"
  | "NOT_DELETABLE"
  | "NOT_FOUND"
  | "SECRET_MISSING"
  | "PORT_UNAVAILABLE"
  | "CAPTURE_INVALID"
  | "FILE_UNREADABLE";

/** The pages that messages name, where this copy of the package is. */
export const DOCS = join(__dirname, "../../docs");
export const LOST_STATE = join(DOCS, "lost-state.md");
