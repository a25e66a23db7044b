import { timingSafeEqual } from "node:crypto";

/** `v1,` and the base64 of 32 bytes. */
const ENTRY = 47;
const V1 = "v1,";

/**
 * Whether one entry of a `webhook-signature` header, entries being separated by spaces, is `v1,` and exactly
 * the expected base64. As the expected text is canonical, so is the one that matches it.
 */
export function holdsSignature(header: string, expected: string): boolean {
  for (const entry of header.split(" ")) {
    if (entry.length === ENTRY && entry.startsWith(V1) && equal(entry.slice(V1.length), expected))
      return true;
  }
  return false;
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

const WELL_FORMED = /(?:^| )v1,[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=(?: |$)/;
const VERSION_1 = /(?:^| )v1,/;

/** What to say of a header that holds no matching entry. */
export function reasonOfMismatch(
  header: string,
): "no-v1-signature" | "malformed-signature" | "signature-mismatch" {
  if (WELL_FORMED.test(header)) return "signature-mismatch";
  return VERSION_1.test(header) ? "malformed-signature" : "no-v1-signature";
}
