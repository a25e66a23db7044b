import type { Capture } from "../../../shared/captureFile";
import { VALIDATION_ID } from "../../../signature/event";
import { claimedId, readSignatureHeaders } from "../../../signature/headers";
import type { RawBody } from "../../../signature/result";
import { fingerprintOf } from "../../../signature/secret";
import { verifyDetailed } from "../../../signature/verify";
import type { SigningSecrets } from "../../secrets";
import { ADVICE, type Cause } from "./advice";
import { bodiesBefore } from "./bodiesBefore";

interface DiagnosisOptions {
  readonly capture: Capture;
  readonly signing: SigningSecrets;
  /** When the receiver got it, in unix seconds; undefined: its age does not count, because captures are old. */
  readonly receivedAt: number | undefined;
  /** Unix seconds. */
  readonly now: number;
}

/** Later than this in unix seconds is the year 5138. In milliseconds, it was in 1973. */
const FIRST_MILLISECOND = 100_000_000_000;
const HEADER_FINDINGS: Partial<Readonly<Record<string, string>>> = {
  "missing-header": "Of webhook-id, webhook-timestamp and webhook-signature, at least one is missing.",
  "malformed-id":
    "webhook-id is there twice, or holds a dot, a space or a character that is not visible ASCII.",
  "malformed-timestamp":
    "webhook-timestamp is there twice, or is not a plain decimal number of unix seconds.",
  "malformed-signature": 'No entry of webhook-signature is "v1," and 44 characters of base64.',
};

/** Returns how old a delivery may be for a receiver, in seconds: a tolerance of 0 turns the limit off. */
export function longestAge({ toleranceSeconds }: Pick<SigningSecrets, "toleranceSeconds">): number {
  return toleranceSeconds === 0 ? Number.POSITIVE_INFINITY : toleranceSeconds;
}

/**
 * Finds out whether a captured delivery verifies and, if not, the usual cause that explains it: a stable word, what was found, and what
 * to do. The secret that signed, if any did, is its fingerprint.
 */
export function diagnose({ capture, signing, receivedAt, now }: DiagnosisOptions) {
  const { headers, body } = capture;
  const { secrets, others } = signing;
  const failed = (cause: Cause, finding: string, secret?: string) => {
    const named = secret === undefined ? null : fingerprintOf([secret]);
    return { verified: false, cause, finding, advice: ADVICE[cause], secret: named } as const;
  };
  const isSigned = (secret: string, candidate: RawBody = body) =>
    verifyDetailed(candidate, headers, secret, 0).ok;

  const result = verifyDetailed(body, headers, secrets, 0);
  if (result.ok) {
    const { id, timestamp } = result;
    const secret = secrets.find((each) => isSigned(each)) ?? "";
    const ageSeconds = (receivedAt ?? now) - timestamp;
    const limit = longestAge(signing);
    if (timestamp >= FIRST_MILLISECOND)
      return failed("timestamp-in-milliseconds", `The timestamp ${timestamp} is not in seconds.`, secret);
    const when = `${receivedAt === undefined ? "now" : "when it was received"}, and the receiver accepts ${limit}.`;
    if (ageSeconds < -limit)
      return failed("timestamp-too-new", `It was ${-ageSeconds} seconds in the future ${when}`, secret);
    if (ageSeconds > limit && receivedAt !== undefined)
      return failed("timestamp-too-old", `It was ${ageSeconds} seconds old ${when}`, secret);
    return { verified: true, id, timestamp, ageSeconds, secret: fingerprintOf([secret]) } as const;
  }
  const ofHeaders = HEADER_FINDINGS[result.reason];
  if (ofHeaders !== undefined) return failed(result.reason as Cause, ofHeaders);
  for (const [output, theirs] of others) {
    const secret = theirs.find((each) => isSigned(each));
    const finding = `The stack's output ${output} has the secret that signed it.`;
    if (secret !== undefined) return failed("other-secret", finding, secret);
  }
  const all = [...secrets, ...[...others.values()].flat()];
  for (const secret of all) {
    const texts = [secret, secret.replace(/^whsec_/, "")];
    const finding = "It was signed with the characters of the secret, not with the key that they encode.";
    if (texts.some((text) => isSigned(`whsec_${Buffer.from(text).toString("base64")}`)))
      return failed("key-not-decoded", finding, secret);
  }
  for (const [cause, what, before] of bodiesBefore(body)) {
    const secret = all.find((each) => isSigned(each, before));
    const sizes = `${Buffer.byteLength(before)} bytes were signed, and this body has ${body.length}`;
    if (secret !== undefined) return failed(cause, `The sender signed ${what} (${sizes}).`, secret);
  }
  const tried = all.map((each) => fingerprintOf([each])).join(", ");
  const finding = `No secret that was tried signed it (${tried}), and no usual change of the body explains that.`;
  const isValidation = claimedId(readSignatureHeaders(headers))?.startsWith(VALIDATION_ID);
  const onPurpose = " It is of a validation, such as probe, which also sends a broken signature on purpose.";
  return failed("signature-mismatch", isValidation ? finding + onPurpose : finding);
}
