import { createHmac, type KeyObject } from "node:crypto";
import { isArrayBuffer, isArrayBufferView } from "node:util/types";

/** Computes the signature of a message: the HMAC-SHA256 over `id.timestamp.body`, in base64. */
export function signatureOf(
  key: KeyObject,
  { id, timestamp }: { readonly id: string; readonly timestamp: string },
  body: NodeJS.ArrayBufferView | string,
): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** Returns a body in a form that can be hashed, or undefined if it is neither bytes nor a string, such as a parsed body. */
export function hashable(body: unknown): NodeJS.ArrayBufferView | string | undefined {
  if (typeof body === "string" || isArrayBufferView(body)) return body;
  return isArrayBuffer(body) ? new Uint8Array(body) : undefined;
}
