import { createHash } from "node:crypto";

/** The configuration of a receiver: what `receiverConfig` makes, and what a stack's secret output holds. Plain JSON. */
export interface ReceiverConfig {
  /** The version of this format. */
  version: 1;
  /** `whsec_…`; several while one is rotated. */
  secrets: string[];
  /** How old, and how far ahead, a delivery's timestamp may be, in seconds, as an integer; 0 turns this window off. */
  toleranceSeconds: number;
  /** The endpoints whose deliveries it receives, by the names that the program gave them. For people, not for verification. */
  endpoints: { [name: string]: ReceiverEndpoint };
  /**
   * Identifies the secrets without revealing them. It depends on nothing else: it stays the same when an endpoint is replaced, and
   * a different one means that receivers need the new configuration.
   */
  fingerprint: string;
}

/** An endpoint that delivers to the receiver. For people: verification does not use it. */
export interface ReceiverEndpoint {
  /** The id that the service assigned. */
  id: string;
  /** Where deliveries go. */
  url: string;
  /** What the endpoint is for. */
  type: string;
}

/** Returns 48 bits of a hash of the secrets. Their order does not matter, because a delivery may be signed with any of them. */
export function fingerprintOf(secrets: readonly string[]): string {
  const text = JSON.stringify(["webhook receiver", ...[...secrets].sort()]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
