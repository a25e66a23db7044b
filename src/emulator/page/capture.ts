import { isUtf8 } from "node:buffer";
import { bytesOf, type ShownAttempt } from "./attempts";

/** The headers that a receiver needs to verify and to read the body. One that came twice is there twice. */
export function headersOf({ headers }: ShownAttempt): readonly (readonly [string, string])[] {
  if (Symbol.iterator in headers) return headers;
  return Object.entries({ "content-type": "application/json", ...headers });
}

/** Returns the file that `verify --capture` and `send --capture` read. A body that is not UTF-8 is in base64. */
export function captureFile(attempt: ShownAttempt): string {
  const bytes = bytesOf(attempt);
  const isBase64Encoded = !isUtf8(bytes);
  const body = bytes.toString(isBase64Encoded ? "base64" : "utf8");
  const receivedAt = new Date(attempt.at).toISOString();
  return JSON.stringify({ receivedAt, headers: headersOf(attempt), body, isBase64Encoded }, undefined, 2);
}
