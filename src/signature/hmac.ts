import { createHmac, type KeyObject } from "node:crypto";

/** Computes the signature of a message: the HMAC-SHA256 over `id.timestamp.body`, in base64. */
export function signatureOf(
  key: KeyObject,
  { id, timestamp }: { readonly id: string; readonly timestamp: string },
  body: Uint8Array | string,
): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** Returns a body in a form that can be hashed, or undefined if it is neither bytes nor a string, such as a parsed body. */
export function hashable(body: unknown): Uint8Array | string | undefined {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  // `instanceof ArrayBuffer` fails for buffers of another realm, such as a vm context or a test runner.
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]")
    return new Uint8Array(body as ArrayBuffer);
  return undefined;
}
