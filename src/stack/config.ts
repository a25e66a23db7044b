import { createHash } from "node:crypto";

/** What a receiver is built from: what `receiverConfig` gives, as a stack's secret output holds it. Plain JSON. */
export interface ReceiverConfig {
  version: 1;
  /** `whsec_…`; several while one is rotated. */
  secrets: string[];
  /** How old, and how far ahead, a delivery's timestamp may be, in whole seconds; 0 turns this window off. */
  toleranceSeconds: number;
  /** The endpoints whose deliveries it receives, by the names that the program gave them: for people, not for verification. */
  endpoints: { [name: string]: ReceiverEndpoint };
  /** Tells one configuration from another without telling its secrets: another one means that receivers need the new one. */
  fingerprint: string;
}

export interface ReceiverEndpoint {
  id: string;
  url: string;
  type: string;
}

/** 48 bits of a hash over all that the configuration holds. */
export function fingerprintOf(config: Omit<ReceiverConfig, "fingerprint">): string {
  const { version, secrets, toleranceSeconds, endpoints } = config;
  const named = Object.entries(endpoints)
    .map(([name, { id, url, type }]) => [name, id, url, type])
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  const text = JSON.stringify(["webhook receiver", version, secrets, toleranceSeconds, named]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
