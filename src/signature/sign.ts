import { randomBytes } from "node:crypto";
import { isCanonicalId, isCanonicalTimestamp } from "./headers";
import type { RawBody } from "./result";
import { keysOf } from "./secret";
import { hashable, signatureOf } from "./verify";

/** What `sign` signs. */
export interface SignOptions {
  /** Unique to the message and the same in each of its retries: visible ASCII without '.'. Default: a new one. */
  readonly id?: string | undefined;
  /** The time of sending, in unix seconds. Default: now. */
  readonly timestamp?: number | undefined;
  /** Exactly what will be sent. A string stands for its UTF-8 bytes. */
  readonly body: RawBody;
  /** `whsec_` and the base64 of the key. With several, as while a secret is rotated, the header holds a signature of each. */
  readonly secret: string | readonly string[];
}

/** The headers that carry a signature, with the names of the Standard Webhooks specification. */
// Not an interface: TypeScript would not accept that as a record, which `verify` and `fetch` take.
export type SignedHeaders = {
  /** The id. */
  readonly "webhook-id": string;
  /** The time in unix seconds. */
  readonly "webhook-timestamp": string;
  /** `v1,` and the signature as base64; several are separated by spaces. */
  readonly "webhook-signature": string;
};

/**
 * Signs a message as the service does: for tests, and for programs that send deliveries.
 *
 * ```ts
 * const body = JSON.stringify({ type: "job.succeeded", data: { jobId: "job_1", status: "succeeded" } });
 * const headers = sign({ body, secret });
 * await fetch(url, { method: "POST", body, headers: { ...headers, "content-type": "application/json" } });
 * ```
 *
 * @throws WebhookSecretError if a secret is malformed or there is none
 * @throws TypeError if the id is not visible ASCII without '.', or the body is neither bytes nor a string
 * @throws RangeError if the timestamp is not a whole number of seconds since 1970
 */
export function sign({
  id = newMessageId(),
  timestamp = Math.floor(Date.now() / 1000),
  body,
  secret,
}: SignOptions): SignedHeaders {
  const keys = keysOf(secret);
  const sent = { id, timestamp: String(timestamp) };
  const bytes = hashable(body);
  if (!isCanonicalId(id))
    throw new TypeError("Cannot sign: the id must be visible ASCII without '.', and not empty.");
  if (!isCanonicalTimestamp(sent.timestamp))
    throw new RangeError("Cannot sign: the timestamp must be a whole number of unix seconds.");
  if (bytes === undefined)
    throw new TypeError("Cannot sign: the body must be a Uint8Array, an ArrayBuffer or a string.");
  const entries = keys.map((key) => `v1,${signatureOf(key, sent, bytes)}`);
  return { "webhook-id": id, "webhook-timestamp": sent.timestamp, "webhook-signature": entries.join(" ") };
}

/** Signs JSON, and returns all headers of its delivery but the sender's own, such as `user-agent`. */
export function signedHeaders(delivery: SignOptions): SignedHeaders & { readonly "content-type": string } {
  return { "content-type": "application/json", ...sign(delivery) };
}

/** Returns a new `webhook-id`. */
export function newMessageId(prefix = "msg_"): string {
  return `${prefix}${randomBytes(12).toString("hex")}`;
}
