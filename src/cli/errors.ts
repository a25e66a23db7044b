import { join } from "node:path";
import type { EmulatorErrorCode } from "../emulator/errors";
import type { EndpointErrorCode } from "../provider/errors";
import { CodedError } from "../shared/codedError";
import type { ReceiverConfigErrorCode } from "../stack/receiverConfigFormat";

/** What a command of this package could not do. Some of its codes are those of what it is built on. */
export class CliError extends CodedError<
  CliErrorCode | EndpointErrorCode | ReceiverConfigErrorCode | EmulatorErrorCode
> {
  override readonly name = "CliError";
}

type CliErrorCode =
  | "WRONG_USE"
  | "INTERRUPTED"
  | "UNEXPECTED"
  | "PULUMI_MISSING"
  | "PULUMI_FAILED"
  | "OWNERSHIP_UNKNOWN"
  | "NOT_ADOPTABLE"
  | "NOT_DELETABLE"
  | "SECRET_MISSING"
  | "CAPTURE_INVALID"
  | "FILE_UNREADABLE";

/** The pages that messages name, where this copy of the package is. */
export const DOCS = join(__dirname, "../../docs");
export const LOST_STATE = join(DOCS, "lost-state.md");
export const COMING_OVER = join(DOCS, "coming-over.md");
