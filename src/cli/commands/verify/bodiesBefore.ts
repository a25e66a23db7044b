import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { jsonEscaped } from "../../../shared/escape";
import { parseJson } from "../../../shared/json";
import { validationBody } from "../../../validation/validateReceiver";
import type { Cause } from "./advice";

/** A body that the sender may have signed: how it was changed, and what completes "the sender signed …". */
type Candidate = readonly [cause: Cause, what: string, body: string | Buffer];

const MARK = "\uFEFF";
const BASE64 = /^[A-Za-z0-9+/]{8,}={0,2}$/;
/** Bounds what a body may decompress to, in bytes. */
const LARGEST = { maxOutputLength: 64 * 1024 * 1024 };

/** Generates the bodies that the sender may have signed if this one was changed in a usual way. */
export function* bodiesBefore(body: Buffer): Generator<Candidate> {
  if (!isUtf8(body)) {
    const plain = unzipped(body);
    if (plain) yield ["body-compressed", "this body before it was compressed", plain];
    return;
  }
  const text = body.toString("utf8");
  const bare = text.replace(MARK, "");
  if (text.startsWith(MARK)) yield ["byte-order-mark", "this body without a byte order mark", bare];
  else yield ["byte-order-mark", "this body with a byte order mark", MARK + text];
  yield ["newline-added", "this body without the newline at its end", text.replace(/\r?\n$/, "")];
  for (const newline of ["\n", "\r\n"])
    yield ["newline-removed", "this body with a newline at its end", text + newline];
  const unix = text.replaceAll("\r\n", "\n");
  yield ["line-endings-changed", "this body with the line ends of Unix", unix];
  yield ["line-endings-changed", "this body with the line ends of Windows", unix.replaceAll("\n", "\r\n")];

  const trimmed = bare.trim();
  if (BASE64.test(trimmed))
    yield ["body-base64", "the bytes that this body holds as base64", Buffer.from(trimmed, "base64")];
  const json = parseJson(trimmed);
  if (typeof json === "string") yield ["body-json-string", "the string that this body holds as JSON", json];
  else if (json !== undefined)
    for (const [how, written] of Object.entries(writingsOf(json) ?? {}))
      yield ["body-reserialized", `this JSON as ${how}`, written];
}

/** Returns a value of JSON as the usual libraries write it; undefined if it is too deep to be written. */
function writingsOf(json: unknown): Readonly<Record<string, string>> | undefined {
  try {
    return writings(json);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

function writings(json: unknown): Readonly<Record<string, string>> {
  const compact = JSON.stringify(json);
  const { timestamp }: { timestamp?: unknown } = Object(json);
  return {
    "JSON.stringify writes it": compact,
    "JSON.stringify writes it with an indent of 2 spaces": JSON.stringify(json, null, 2),
    "JSON.stringify writes it with an indent of 4 spaces": JSON.stringify(json, null, 4),
    "Python's json.dumps writes it": asciiOnly(spaced(json)),
    "Python's json.dumps writes it with ensure_ascii=False": spaced(json),
    "Python's json.dumps writes it with compact separators": asciiOnly(compact),
    "PHP's json_encode writes it": asciiOnly(compact.replaceAll("/", "\\/")),
    "PHP's json_encode writes it with JSON_UNESCAPED_UNICODE": compact.replaceAll("/", "\\/"),
    ...(typeof timestamp === "string" && { "a validation or `probe` writes it": validationBody(timestamp) }),
  };
}

/** Writes JSON with a space after each comma and colon. */
function spaced(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaced).join(", ")}]`;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const members = Object.entries(json).map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`);
  return `{${members.join(", ")}}`;
}

function asciiOnly(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, jsonEscaped);
}

function unzipped(body: Buffer): Buffer | undefined {
  try {
    return gunzipSync(body, LARGEST);
  } catch {
    return undefined;
  }
}
