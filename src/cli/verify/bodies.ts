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

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const BASE64 = /^[A-Za-z0-9+/]{8,}={0,2}$/;
/** Bounds what a body may decompress to, in bytes. */
const LARGEST = { maxOutputLength: 64 * 1024 * 1024 };

/** Generates the bodies that the sender may have signed if this one was changed in a usual way. */
export function* bodiesBefore(body: Buffer): Generator<Candidate> {
  if (body[0] === 0x1f && body[1] === 0x8b) {
    const plain = attempted(() => gunzipSync(body, LARGEST));
    if (plain) yield { cause: "body-compressed", body: plain, what: "this body before it was compressed" };
  }
  const hasMark = body.subarray(0, MARK.length).equals(MARK);
  const other = hasMark ? body.subarray(MARK.length) : Buffer.concat([MARK, body]);
  yield {
    cause: "byte-order-mark",
    body: other,
    what: `this body ${hasMark ? "without" : "with"} a byte order mark`,
  };
  if (!isUtf8(body)) return;

  const text = body.toString("utf8");
  const candidate = (cause: BodyCause, changed: string, what: string): Candidate => {
    return { cause, body: Buffer.from(changed), what };
  };
  if (/\n$/.test(text))
    yield candidate("newline-added", text.replace(/\r?\n$/, ""), "this body without the newline at its end");
  for (const newline of ["\n", "\r\n"])
    yield candidate("newline-removed", text + newline, "this body with a newline at its end");
  const unix = text.replaceAll("\r\n", "\n");
  yield candidate("line-endings-changed", unix, "this body with the line ends of Unix");
  yield candidate(
    "line-endings-changed",
    unix.replaceAll("\n", "\r\n"),
    "this body with the line ends of Windows",
  );

  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (BASE64.test(trimmed)) {
    const decoded = Buffer.from(trimmed, "base64");
    yield { cause: "body-base64", body: decoded, what: "the bytes that this body holds as base64" };
  }
  const json = parseJson(trimmed);
  if (typeof json === "string")
    yield candidate("body-json-string", json, "the string that this body holds as JSON");
  else if (json !== undefined)
    for (const [written, how] of writings(json))
      yield candidate("body-reserialized", written, `this JSON as ${how}`);
}

/** Generates a value of JSON as the usual libraries write it. */
function* writings(json: unknown): Generator<readonly [text: string, how: string]> {
  const compact = JSON.stringify(json);
  yield [compact, "JSON.stringify writes it"];
  yield [JSON.stringify(json, null, 2), "JSON.stringify writes it with an indent of 2 spaces"];
  yield [JSON.stringify(json, null, 4), "JSON.stringify writes it with an indent of 4 spaces"];
  yield [escaped(spaced(json)), "Python's json.dumps writes it"];
  yield [spaced(json), "Python's json.dumps writes it with ensure_ascii=False"];
  yield [escaped(compact), "Python's json.dumps writes it with compact separators"];
  yield [escaped(compact.replaceAll("/", "\\/")), "PHP's json_encode writes it"];
  yield [compact.replaceAll("/", "\\/"), "PHP's json_encode writes it with JSON_UNESCAPED_UNICODE"];
}

/** Writes JSON with a space after each comma and colon. */
function spaced(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaced).join(", ")}]`;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  return `{${Object.entries(json)
    .map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`)
    .join(", ")}}`;
}

/** Escapes every character beyond ASCII. */
function escaped(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function attempted<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
