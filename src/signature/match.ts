import { timingSafeEqual } from "node:crypto";
import type { VerificationFailure } from "./result";

/** The length of `v1,` and of the base64 of 32 bytes. */
const SCHEME = 3;
const DIGITS = 44;
const ENTRY = SCHEME + DIGITS;

// As little-endian words: `v1,` in the low three bytes; `=` and a space in two.
const V1 = 0x2c3176;
const PADDING_AND_SPACE = 0x203d;
const SPACE = 0x20;

// Reused, as nothing here waits: what is compared is written over by the next comparison. 16 KiB hold what Node's server accepts.
const wanted = Buffer.alloc(DIGITS);
const wantedWords = viewOf(wanted);
const shared = Buffer.alloc(16 * 1024 + 1);
const sharedWords = viewOf(shared);
const only = shared.subarray(SCHEME, ENTRY);

/**
 * Whether one entry of a `webhook-signature` header, entries being separated by one space, is `v1,` and exactly
 * the expected base64 of 32 bytes. As the expected text is canonical, so is the one that matches it.
 */
export function holdsSignature(header: string, expected: string): boolean {
  wanted.write(expected, "latin1");
  if (header.length === ENTRY) {
    shared.write(header, "latin1");
    return timingSafeEqual(only, wanted) && header === `v1,${expected}`;
  }
  if (header.length < shared.length) return scan(header, expected, shared, sharedWords);
  const bytes = Buffer.alloc(header.length + 1);
  return scan(header, expected, bytes, viewOf(bytes));
}

/**
 * Compares in constant time. The first 24 digits are 144 bits of the HMAC, and no part of them shows in the time taken; nobody
 * guesses them all, as RFC 2104 section 5 trusts a MAC of 128 bits. So to compare the rest only after them tells nothing, and
 * hundreds of wrong signatures in one header cost little more than one.
 */
function scan(header: string, expected: string, bytes: Buffer, words: DataView): boolean {
  const end = bytes.write(header, "latin1");
  bytes[end] = SPACE;
  const w0 = wantedWords.getInt32(0, true);
  const w1 = wantedWords.getInt32(4, true);
  const w2 = wantedWords.getInt32(8, true);
  const w3 = wantedWords.getInt32(12, true);
  const w4 = wantedWords.getInt32(16, true);
  const w5 = wantedWords.getInt32(20, true);
  for (let at = 0; at + ENTRY <= end; ) {
    const isV1 = (words.getInt32(at, true) & 0xffffff) === V1;
    if (isV1 && words.getUint16(at + ENTRY - 1, true) === PADDING_AND_SPACE) {
      const difference =
        (words.getInt32(at + 3, true) ^ w0) |
        (words.getInt32(at + 7, true) ^ w1) |
        (words.getInt32(at + 11, true) ^ w2) |
        (words.getInt32(at + 15, true) ^ w3) |
        (words.getInt32(at + 19, true) ^ w4) |
        (words.getInt32(at + 23, true) ^ w5);
      if (difference === 0 && isSame(bytes, at, header, expected)) return true;
      at += ENTRY + 1;
    } else {
      at = bytes.indexOf(SPACE, at) + 1;
    }
  }
  return false;
}

/** In whole; and as text, since a character beyond Latin-1 was cut to its low byte. */
function isSame(bytes: Buffer, at: number, header: string, expected: string): boolean {
  const digits = bytes.subarray(at + SCHEME, at + ENTRY);
  return timingSafeEqual(digits, wanted) && header.startsWith(`v1,${expected}`, at);
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/** Entries of a scheme, a comma and a value, one space between them. */
const FORM = /^[!-+\--~]+,[!-+\--~]+(?: [!-+\--~]+,[!-+\--~]+)*$/;

/** What is wrong with the form of a header in which one entry matches: others must be entries, too, of whatever scheme. */
export function problemOfForm(header: string): VerificationFailure | undefined {
  if (header.length === ENTRY || FORM.test(header)) return undefined;
  return isJoined(header) ? "duplicate-signature" : "malformed-signature";
}

const DIGITS_OF_32_BYTES = "[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=";
const WELL_FORMED_FIRST = new RegExp(`^v1,${DIGITS_OF_32_BYTES}(?: |$)`);
const WELL_FORMED = new RegExp(` v1,${DIGITS_OF_32_BYTES}(?: |$)`);
const VERSION_1 = /(?:^| )v1,/;

/** What to say of a header that holds no matching entry. As a rule the first entry tells, however many there are. */
export function reasonOfMismatch(header: string): VerificationFailure {
  if (WELL_FORMED_FIRST.test(header)) return "signature-mismatch";
  if (isJoined(header)) return "duplicate-signature";
  if (WELL_FORMED.test(header)) return "signature-mismatch";
  return VERSION_1.test(header) ? "malformed-signature" : "no-v1-signature";
}

/** Whether one value was made of a header that came twice: by Node and Fetch with ", ", by AWS with a comma after the padding. */
function isJoined(header: string): boolean {
  return header.includes(", ") || header.includes("=,");
}
