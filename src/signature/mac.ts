import { createHmac, type KeyObject } from "node:crypto";

/** The base64 of the HMAC-SHA256 over `id.timestamp.body`; the body is hashed where it lies, without a copy. */
export function mac(key: KeyObject, id: string, timestamp: string, body: Uint8Array | string): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** The body as `mac` takes it; undefined for what is neither bytes nor text, such as a body that was parsed. */
export function hashable(body: unknown): Uint8Array | string | undefined {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  // Not instanceof alone: the ArrayBuffer of a vm context or of a test runner is another class.
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]")
    return new Uint8Array(body as ArrayBuffer);
  return undefined;
}
