import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { parseJson } from "../../shared/json";

/** How something changed a body after it was signed. */
export type BodyCause =
  | "newline-added"
  | "newline-removed"
  | "line-endings-changed"
  | "byte-order-mark"
  | "body-reserialized"
  | "body-json-string"
  | "body-base64"
  | "body-compressed";

/** A body that the sender may have signed. */
interface Candidate {
  readonly cause: BodyCause;
  readonly body: Buffer;
  /** Completes "the sender signed …". */
  readonly what: string;
}

const MARK = "\uFEFF";
const BASE64 = /^[A-Za-z0-9+/]{8,}={0,2}$/;
/** Bounds what a body may decompress to, in bytes. */
const LARGEST = { maxOutputLength: 64 * 1024 * 1024 };

/** Generates the bodies that the sender may have signed if this one was changed in a usual way. */
export function* bodiesBefore(body: Buffer): Generator<Candidate> {
  const candidate = (cause: BodyCause, before: string | Buffer, what: string): Candidate => {
    return { cause, body: Buffer.from(before), what };
  };
  if (!isUtf8(body)) {
    const plain = unzipped(body);
    if (plain) yield candidate("body-compressed", plain, "this body before it was compressed");
    return;
  }
  const text = body.toString("utf8");
  const bare = text.replace(MARK, "");
  if (text.startsWith(MARK)) yield candidate("byte-order-mark", bare, "this body without a byte order mark");
  else yield candidate("byte-order-mark", MARK + text, "this body with a byte order mark");
  if (text.endsWith("\n"))
    yield candidate("newline-added", text.replace(/\r?\n$/, ""), "this body without the newline at its end");
  for (const newline of ["\n", "\r\n"])
    yield candidate("newline-removed", text + newline, "this body with a newline at its end");
  const unix = text.replaceAll("\r\n", "\n");
  const windows = unix.replaceAll("\n", "\r\n");
  yield candidate("line-endings-changed", unix, "this body with the line ends of Unix");
  yield candidate("line-endings-changed", windows, "this body with the line ends of Windows");

  const trimmed = bare.trim();
  if (BASE64.test(trimmed)) {
    const decoded = Buffer.from(trimmed, "base64");
    yield candidate("body-base64", decoded, "the bytes that this body holds as base64");
  }
  const json = parseJson(trimmed);
  if (typeof json === "string")
    yield candidate("body-json-string", json, "the string that this body holds as JSON");
  else if (json !== undefined)
    for (const [how, written] of Object.entries(writingsOf(json)))
      yield candidate("body-reserialized", written, `this JSON as ${how}`);
}

/** Returns a value of JSON as the usual libraries write it. */
function writingsOf(json: unknown): Readonly<Record<string, string>> {
  const compact = JSON.stringify(json);
  return {
    "JSON.stringify writes it": compact,
    "JSON.stringify writes it with an indent of 2 spaces": JSON.stringify(json, null, 2),
    "JSON.stringify writes it with an indent of 4 spaces": JSON.stringify(json, null, 4),
    "Python's json.dumps writes it": escaped(spaced(json)),
    "Python's json.dumps writes it with ensure_ascii=False": spaced(json),
    "Python's json.dumps writes it with compact separators": escaped(compact),
    "PHP's json_encode writes it": escaped(compact.replaceAll("/", "\\/")),
    "PHP's json_encode writes it with JSON_UNESCAPED_UNICODE": compact.replaceAll("/", "\\/"),
  };
}

/** Writes JSON with a space after each comma and colon. */
function spaced(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaced).join(", ")}]`;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const members = Object.entries(json).map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`);
  return `{${members.join(", ")}}`;
}

/** Escapes every character beyond ASCII. */
function escaped(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function unzipped(body: Buffer): Buffer | undefined {
  try {
    return gunzipSync(body, LARGEST);
  } catch {
    return undefined;
  }
}
