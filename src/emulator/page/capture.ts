import { isUtf8 } from "node:buffer";
import { isUrl } from "../../shared/url";
import { INVISIBLE, visible } from "./html";
import type { HeaderPair, ShownAttempt } from "./source";

/** A representation of an attempt to copy or to save. */
interface Capture {
  readonly type: string;
  readonly content: string | Buffer;
  /** The name to save it under. Undefined to show it. */
  readonly fileName?: string;
}

type Capturing = (attempt: ShownAttempt) => Capture;

/** A longer body is sent through a pipe: a system limits the length of an argument. In bytes. */
const LONGEST_ARGUMENT = 100_000;
/** Characters that a shell or a terminal could take for something else when a command is pasted. A line feed is safe in quotes. */
const UNSAFE = new RegExp(`\\t|${INVISIBLE.source}`, "u");

/**
 * What curl says of its own connection. The name at which a delivery arrived, such as a tunnel's, is not the target's, which may refuse
 * it, as development servers do.
 */
const OF_CONNECTION = /^(host|content-length|transfer-encoding)$/;

/** The captures of an attempt, by the last part of their path. `verify` reads the file `capture`. */
export const CAPTURES: ReadonlyMap<string, Capturing> = new Map<string, Capturing>([
  ["curl", (attempt) => ({ type: "text/plain; charset=utf-8", content: curlCommand(attempt) })],
  ["body", (attempt) => ({ type: "text/plain; charset=utf-8", content: bytesOf(attempt) })],
  [
    "capture",
    (attempt) => ({
      type: "application/json",
      content: `${JSON.stringify(captureOf(attempt), undefined, 2)}\n`,
      fileName: fileNameOf(attempt),
    }),
  ],
]);

/** The same members as a file of `listen --save`. A body that is not UTF-8 is in base64. */
function captureOf(attempt: ShownAttempt) {
  const bytes = bytesOf(attempt);
  const isBase64Encoded = !isUtf8(bytes);
  return {
    receivedAt: new Date(attempt.at).toISOString(),
    headers: headersOf(attempt),
    body: bytes.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}

export function bytesOf({ body }: ShownAttempt): Buffer {
  return Buffer.from(body ?? "");
}

/** The headers that a receiver needs to verify and to read the body. One that came twice is there twice. */
export function headersOf({ headers }: ShownAttempt): readonly HeaderPair[] {
  if (Symbol.iterator in headers) return headers;
  return Object.entries({ "content-type": "application/json", ...headers });
}

/** An id can contain anything. */
export function fileNameOf({ id, number }: ShownAttempt): string {
  return `${id.replace(/[^\w-]/g, "_").slice(0, 60)}-${number}.json`;
}

/** Returns a command for a POSIX shell, or for fish, that repeats an attempt, byte for byte. */
function curlCommand(attempt: ShownAttempt): string {
  const bytes = bytesOf(attempt);
  const text = bytes.toString("utf8");
  const isPlain = bytes.length <= LONGEST_ARGUMENT && isUtf8(bytes) && !UNSAFE.test(text);
  const url = isUrl(attempt.url) ? new URL(attempt.url).href : visible(attempt.url);
  const lines = [
    // Without --globoff, brackets in a url are a pattern.
    `curl --globoff --url ${quoted(url)}`,
    ...headersOf(attempt)
      .filter(([name]) => !OF_CONNECTION.test(name))
      .map(([name, value]) => `--header ${quoted(visible(`${name}: ${value}`))}`),
    // With --data, a body that begins with @ would be the name of a file to send.
    isPlain ? `--data-raw ${quoted(text)}` : "--data-binary @-",
  ];
  const command = lines.join(" \\\n  ");
  return isPlain ? command : `printf %s ${quoted(bytes.toString("base64"))} | base64 --decode | ${command}`;
}

/** In single quotes, a backslash means something to fish. */
function quoted(value: string): string {
  return `'${value.replace(/['\\]/g, (character) => `'\\${character}'`)}'`;
}
