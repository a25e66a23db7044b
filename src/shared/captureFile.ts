import { isUtf8 } from "node:buffer";
import { isRecord } from "./json";

/** A header's name and value. One that was sent twice is there twice. */
export type HeaderPair = readonly [name: string, value: string];

/** A request as it was received. */
export interface Capture {
  readonly headers: readonly HeaderPair[];
  readonly body: Buffer;
  /** When it arrived, in unix seconds. */
  readonly receivedAt?: number;
}

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

/**
 * Returns what such a file holds, or other JSON with `headers` and `body`: an event of AWS Lambda, or one that somebody wrote. What cannot be a
 * header is left out.
 */
export function captureOfJson({
  headers,
  body,
  isBase64Encoded,
  receivedAt,
}: Record<string, unknown>): Capture {
  const entries: unknown = isRecord(headers) ? Object.entries(headers) : headers;
  const pairs = (Array.isArray(entries) ? entries : []).flatMap((entry: unknown) => {
    const [name, value]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof name !== "string") return [];
    return [value].flat().flatMap((one) => (isText(one) ? [[name, String(one)] as const] : []));
  });
  const encoding = isBase64Encoded === true ? "base64" : "utf8";
  const bytes = Buffer.from(typeof body === "string" ? body : "", encoding);
  const at = typeof receivedAt === "string" ? Math.floor(Date.parse(receivedAt) / 1000) : Number.NaN;
  return { headers: pairs, body: bytes, ...(Number.isNaN(at) ? {} : { receivedAt: at }) };
}

/** Whether a value of JSON is one that a header can have. */
function isText(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
