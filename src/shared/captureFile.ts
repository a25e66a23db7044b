import { isUtf8 } from "node:buffer";

/** A header's name and value. One that was sent twice is there twice. */
export type HeaderPair = readonly [name: string, value: string];

interface CapturedRequest {
  /** When it was sent or received, in milliseconds since 1970. */
  readonly at: number;
  /** None may hold a credential: captures are shared. */
  readonly headers: readonly HeaderPair[];
  readonly body: string | Uint8Array;
}

/** Returns the file that `verify --capture` and `send --capture` read. A body that is not UTF-8 is in base64. */
export function captureFile({ at, headers, body }: CapturedRequest): string {
  const bytes = Buffer.from(body);
  const isBase64Encoded = !isUtf8(bytes);
  const written = bytes.toString(isBase64Encoded ? "base64" : "utf8");
  const receivedAt = new Date(at).toISOString();
  return JSON.stringify({ receivedAt, headers, body: written, isBase64Encoded }, undefined, 2);
}
