import { choose, readCaptures } from "../capture/capture";
import type { Capture } from "../capture/headerPair";
import { CliError } from "../errors";
import { readInput } from "../inputFile";

/** Where a captured delivery is. */
export interface SourceFlags {
  readonly capture?: string;
  readonly headers?: string;
  readonly body?: string;
  readonly id?: string;
}

/**
 * Reads a captured delivery from the files that the options name.
 *
 * @param note says what the user should know about the choice
 * @throws CliError `WRONG_USE` or `FILE_UNREADABLE`
 */
export async function readDelivery(
  flags: SourceFlags,
  note: (text: string) => void,
): Promise<Required<Pick<Capture, "body">> & Capture> {
  const { capture, headers, body } = flags;
  const path = capture ?? headers;
  if (path === undefined)
    throw new CliError(
      "WRONG_USE",
      "the headers are missing: name their file with --headers, or a file with headers and body with --capture",
    );
  if (capture !== undefined && headers !== undefined)
    throw new CliError("WRONG_USE", "--capture has the headers too, so leave out --headers");
  if (capture === undefined && body === undefined)
    throw new CliError(
      "WRONG_USE",
      "the body is missing: name its file with --body. If the file of --headers has the body too, name it with --capture instead",
    );
  if (path === "-" && body === "-")
    throw new CliError(
      "WRONG_USE",
      "only one file can be standard input (-). One that has headers and body is for --capture",
    );
  const file = await readInput(path, capture === undefined ? "--headers" : "--capture");
  const delivery = choose(readCaptures(file, note), flags.id, note);
  const bytes = body === undefined ? delivery.body : await readInput(body, "--body");
  if (bytes === undefined)
    throw new CliError(
      "WRONG_USE",
      file.toString("latin1").trim() === ""
        ? "the file of --capture is empty"
        : "no body was found in the file of --capture: name a file that holds the body alone with --body",
    );
  return { ...delivery, body: bytes };
}
