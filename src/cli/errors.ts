import type { EmulatorErrorCode } from "../emulator/emulatorError";
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

/** Returns what an error says as one line, without the code: its ways on follow the reason, and no period ends it. */
export function lineOf({ detail }: CodedError): string {
  const lines = detail.split("\n").map((line) => line.trim());
  return lines.join(" ").replace(/\.$/, "");
}
