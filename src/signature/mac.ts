import { createHash, createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";

/** A key as both ways to compute a MAC take it. */
export interface MacKey {
  readonly secret: KeyObject;
  /** The key exclusive-or 0x36: what RFC 2104 hashes before the message. */
  readonly inner: Uint8Array;
  /** The key exclusive-or 0x5c, and room for the inner hash. */
  readonly outer: Buffer;
}

/** The block of SHA-256, in bytes, and its hash. */
const BLOCK = 64;
const HASH = 32;

export function macKey(bytes: Uint8Array): MacKey {
  const key = bytes.length > BLOCK ? createHash("sha256").update(bytes).digest() : bytes;
  const inner = Buffer.alloc(BLOCK, 0x36);
  const outer = Buffer.alloc(BLOCK + HASH, 0x5c);
  key.forEach((byte, i) => {
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  });
  return { secret: createSecretKey(bytes), inner, outer };
}

/** Reused, as nothing here waits. */
const small = Buffer.alloc(8 * 1024);

/**
 * The base64 of the HMAC-SHA256 over `id.timestamp.body`, the id being ASCII.
 *
 * A large body is hashed where it lies, without a copy. For a small one Node's Hmac object costs more than the hashing, so there
 * HMAC is computed as RFC 2104 defines it, by two calls of a function of Node that needs no object.
 */
export function mac(key: MacKey, id: string, timestamp: string, body: Uint8Array | string): string {
  const prefix = `${id}.${timestamp}.`;
  const start = BLOCK + prefix.length;
  // Runtimes other than Node may lack `hash`.
  if (typeof hash !== "function" || typeof body === "string" || start + body.length > small.length) {
    return createHmac("sha256", key.secret).update(prefix).update(body).digest("base64");
  }
  small.set(key.inner);
  small.write(prefix, BLOCK, "latin1");
  small.set(body, start);
  key.outer.write(hash("sha256", small.subarray(0, start + body.length), "binary"), BLOCK, "latin1");
  return hash("sha256", key.outer, "base64");
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
