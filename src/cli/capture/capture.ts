import { parseJson } from "../../shared/json";
import { mayBeKey } from "../../shared/mayBeKey";
import { isCanonicalTimestamp } from "../../signature/headers";
import { CliError } from "../errors";
import { lineHeaders } from "./headerLines";
import { type Capture, type HeaderPair, headerValue, isOurHeader } from "./headerPair";
import { jsonCaptures } from "./jsonCapture";

const UTF16_MARK = Buffer.from([0xff, 0xfe]);
/** Where the next of several JSON values begins: at a line of its own, or after the end of one without a newline. */
const NEXT_VALUE = /^(?=[{[])|(?<=^\})(?=\{)/m;
/** How many ids a message names. */
const MOST_NAMED = 5;

/**
 * Reads the requests in a file: JSON, such as that of `listen --save`, an HAR file or an event of AWS Lambda; several values of JSON,
 * as `listen --json --print` writes them; or text, such as a request as it was sent. Requests with none of the headers of a delivery
 * are left out, if any has one.
 *
 * @param note says that values were left out too, because they are cut off
 */
export function readCaptures(file: Buffer, note: (text: string) => void): Capture[] {
  const bytes = inUtf8(file);
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  const json = /^\s*[{["]/.test(text) ? (parseJson(text) ?? parseValues(text, note)) : undefined;
  if (typeof json === "string") return readCaptures(Buffer.from(json), note);
  const captures = json === undefined ? [textCapture(bytes, text)] : jsonCaptures(json);
  const ours = captures.filter(({ headers }) => headers.some(isOurHeader));
  return ours.length > 0 ? ours : captures;
}

/** Parses JSON values that follow each other, except those that are cut off. Returns undefined if none is JSON. */
function parseValues(text: string, note: (text: string) => void): unknown[] | undefined {
  const parts = text.trim().split(NEXT_VALUE);
  const values = parts.map(parseJson).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  if (values.length < parts.length)
    note(
      `Left out, because not valid JSON, such as a line that is cut off: ${parts.length - values.length} of the file's ${parts.length} values.`,
    );
  return values;
}

/**
 * Returns the capture with the id of `--id`, or with the only id. Of several with that id, such as retries, it is the newest by
 * timestamp: the one that the receiver judged last. Of several without a timestamp, it is the last with a body.
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
  const newest = found.toSorted(inTurn).at(-1);
  if (newest !== undefined && (id !== undefined || ids.size === 1)) {
    if (found.length > 1)
      note(
        ids.has("")
          ? `None of the file's ${found.length} requests has the header webhook-id. This is about the last of them.`
          : `The file has ${found.length} deliveries with the same id. This is about the newest of them.`,
      );
    return newest;
  }
  const named = [...ids].filter((each) => each !== "" && !mayBeKey(each)).slice(0, MOST_NAMED);
  const list = named.length === 0 ? "" : `, such as ${named.join(", ")}`;
  throw new CliError(
    "WRONG_USE",
    id === undefined
      ? `the file has ${captures.length} deliveries: choose one with --id${list}`
      : `no delivery in the file has the id of --id${list}`,
  );
}

function inTurn(one: Capture, other: Capture): number {
  const byBody = Number(one.body !== undefined) - Number(other.body !== undefined);
  return sentAt(one) - sentAt(other) || byBody;
}

/** Returns the timestamp. One that cannot be read is older than any other. */
function sentAt({ headers }: Capture): number {
  const timestamp = headerValue(headers, "webhook-timestamp") ?? "";
  return isCanonicalTimestamp(timestamp) ? Number(timestamp) : 0;
}

/** PowerShell writes what a command printed as UTF-16. The bytes of any other file stay, because a body is not always text. */
function inUtf8(file: Buffer): Buffer {
  return file.subarray(0, 2).equals(UTF16_MARK) ? Buffer.from(file.toString("utf16le")) : file;
}

function textCapture(file: Buffer, text: string): Capture {
  const headers = lineHeaders(text);
  const start = bodyStart(file);
  const head = file.subarray(0, Math.max(start, 0)).toString("latin1");
  // What follows the headers in the output of `curl -v`, or in a printed object, is not the body.
  const isPrinted = /^> /m.test(head) || /^\s*(\w+\s*)?[{[%(]/.test(text);
  if (start === -1 || isPrinted || headers.length === 0) return { headers };
  return { headers, body: withoutRest(file.subarray(start), headers) };
}

/** Returns where the body starts: after the first blank line that follows a header. */
function bodyStart(file: Buffer): number {
  const text = file.toString("latin1");
  const blank = /\n\r?\n/g;
  blank.lastIndex = Math.max(text.search(/\S/), 0);
  return blank.test(text) ? blank.lastIndex : -1;
}

/** What may follow a body: the line end that an editor adds to a file, an answer, or another request. */
const REST = /^\r?\n$|^[\r\n]*(HTTP\/1\.\d \d|[A-Z]+ \S+ HTTP\/1\.\d\r?\n)/;

/** Drops what follows the body, if the headers say how long that is. */
function withoutRest(body: Buffer, headers: readonly HeaderPair[]): Buffer {
  const length = Number(headerValue(headers, "content-length") ?? body.length);
  return REST.test(body.subarray(length).toString("latin1")) ? body.subarray(0, length) : body;
}
