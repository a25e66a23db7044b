import { createHash } from "node:crypto";

/**
 * Identifies secrets without revealing them, by 48 bits of a hash. Their order does not matter, because a delivery may be signed with any
 * of them.
 */
export function fingerprintOf(secrets: readonly string[]): string {
  const text = JSON.stringify(["webhook receiver", ...[...secrets].sort()]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
