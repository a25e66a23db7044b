import { parseJson } from "../../shared/json";
import { isCanonicalTimestamp } from "../../signature/headers";
import { CliError } from "../errors";
import { mayBeKey } from "../mayBeKey";
import { lineHeaders } from "./headerLines";
import { type Capture, type HeaderPair, headerValue, isOurHeader } from "./headerPair";
import { jsonCaptures } from "./jsonCapture";

const UTF16_MARK = Buffer.from([0xff, 0xfe]);
/** How many ids a message names. */
const MOST_NAMED = 5;

/**
 * Reads the requests in a file: JSON, such as that of `listen --save`, an HAR file or an event of AWS Lambda; JSON on each line, as
 * `listen --json --print` writes it; or text, such as a request as it was sent. Requests with none of the headers of a delivery are
 * left out, if any has one.
 */
export function readCaptures(file: Buffer): Capture[] {
  const text = textOf(file);
  const json = /^\s*[{["]/.test(text) ? (parseJson(text) ?? parseLines(text)) : undefined;
  const captures = json === undefined ? [textCapture(file, text)] : jsonCaptures(json);
  const ours = captures.filter(({ headers }) => headers.some(isOurHeader));
  return ours.length > 0 ? ours : captures;
}

/** Parses JSON on each line. Returns undefined if any line is something else. */
function parseLines(text: string): unknown[] | undefined {
  const values: unknown[] = [];
  for (const line of text.trim().split("\n")) {
    const value = parseJson(line);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/**
 * Returns the capture with the id of `--id`, or with the only id. Of several with that id, such as retries, it is the newest by
 * timestamp: the one that the receiver judged last.
 *
 * @param note says that there were several
 * @throws CliError `WRONG_USE`
 */
export function choose(
  captures: readonly Capture[],
  id: string | undefined,
  note: (text: string) => void,
): Capture {
  const ids = new Set(captures.map(({ headers }) => headerValue(headers, "webhook-id") ?? ""));
  const found = captures.filter(
    ({ headers }) => id === undefined || headerValue(headers, "webhook-id") === id,
  );
  const newest = found.toSorted((one, other) => sentAt(one) - sentAt(other)).at(-1);
  if (newest !== undefined && (id !== undefined || ids.size === 1)) {
    if (found.length > 1)
      note(`The file has ${found.length} deliveries with the same id. This is about the newest of them.`);
    return newest;
  }
  const named = [...ids].filter((each) => each !== "" && !mayBeKey(each)).slice(0, MOST_NAMED);
  const list = named.length === 0 ? "" : `, such as ${named.join(", ")}`;
  throw new CliError(
    "WRONG_USE",
    `the file has ${captures.length} deliveries: ${id === undefined ? "choose one with --id" : "none has the id of --id"}${list}`,
  );
}

/** Returns the timestamp. One that cannot be read is older than any other. */
function sentAt({ headers }: Capture): number {
  const timestamp = headerValue(headers, "webhook-timestamp") ?? "";
  return isCanonicalTimestamp(timestamp) ? Number(timestamp) : 0;
}

/** PowerShell writes what a command printed as UTF-16. */
function textOf(file: Buffer): string {
  const encoding = file.subarray(0, 2).equals(UTF16_MARK) ? "utf16le" : "utf8";
  return file.toString(encoding).replace(/^\uFEFF/, "");
}

function textCapture(file: Buffer, text: string): Capture {
  const headers = lineHeaders(text);
  const start = bodyStart(file);
  const head = file.subarray(0, Math.max(start, 0)).toString("latin1");
  // What follows the headers in the output of `curl -v`, or in a printed object, is not the body.
  const isPrinted = /^> /m.test(head) || /^\s*[{[%(]/.test(text);
  if (start === -1 || isPrinted || headers.length === 0) return { headers };
  return { headers, body: withoutLastLine(file.subarray(start), headers) };
}

/** Returns where the body starts: after the first blank line that follows a header. */
function bodyStart(file: Buffer): number {
  const text = file.toString("latin1");
  const blank = /\n\r?\n/g;
  blank.lastIndex = Math.max(text.search(/\S/), 0);
  return blank.test(text) ? blank.lastIndex : -1;
}

/** Drops the line end that an editor adds to a file, if the headers say how long the body is. */
function withoutLastLine(body: Buffer, headers: readonly HeaderPair[]): Buffer {
  const length = Number(headerValue(headers, "content-length") ?? body.length);
  return /^\r?\n$/.test(body.subarray(length).toString("latin1")) ? body.subarray(0, length) : body;
}
