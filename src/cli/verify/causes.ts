import { createHmac } from "node:crypto";
import { readSignatureHeaders } from "../../signature/headers";
import type { VerificationFailure } from "../../signature/result";
import { verifyDetailed } from "../../signature/verify";
import type { Capture } from "../capture";
import { fingerprint, type SigningSecrets } from "../secrets";
import { type BodyCause, bodiesBefore } from "./bodies";

/** Why a captured delivery does not verify. Stable: the reasons of a receiver, and in place of `signature-mismatch` a closer one. */
export type VerifyCause = BodyCause | "other-secret" | "key-not-decoded" | "timestamp-in-milliseconds";

/** What was found about a delivery. No part holds a secret, or the body. */
export type Diagnosis =
  | { readonly cause: undefined; readonly id: string; readonly timestamp: number; readonly secret: string }
  | {
      readonly cause: VerifyCause | VerificationFailure;
      /** What was found, as a sentence. */
      readonly finding: string;
      /** The secret that signed, if one did. */
      readonly secret?: string;
    };

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
const FINDINGS: Readonly<Partial<Record<VerificationFailure, string>>> = {
  "missing-header":
    "Of the headers webhook-id, webhook-timestamp and webhook-signature, at least one is missing.",
  "malformed-id":
    "The header webhook-id is there twice, or holds a dot, a space or a character that is not visible ASCII.",
  "malformed-timestamp":
    "The header webhook-timestamp is there twice, or is not a plain decimal number of unix seconds.",
  "malformed-signature":
    'The header webhook-signature is there twice, or none of its entries is "v1," and 44 characters of base64.',
};

/** Finds out whether a captured delivery verifies and, if not, the usual cause that explains it. */
export function diagnose({ capture, signing, receivedAt, now }: DiagnosisOptions): Diagnosis {
  const { headers, body } = capture;
  const result = verifyDetailed(body, headers, signing.secrets, 0);
  const sent = readSignatureHeaders(headers);
  if (typeof sent === "string") return { cause: sent, finding: FINDINGS[sent] ?? sent };
  if (!result.ok && result.reason !== "signature-mismatch")
    return { cause: result.reason, finding: FINDINGS[result.reason] ?? result.reason };

  const signer = (candidate: Uint8Array, secrets: readonly string[]) =>
    secrets.find((secret) => verifyDetailed(candidate, headers, secret, 0).ok);
  const secret = signer(body, signing.secrets);
  if (secret !== undefined) {
    const { toleranceSeconds } = signing;
    const timestamp = Number(sent.timestamp);
    const problem = clockProblem(timestamp, { toleranceSeconds, receivedAt, now });
    return problem ? { ...problem, secret } : { cause: undefined, id: sent.id, timestamp, secret };
  }
  for (const [output, secrets] of signing.others) {
    const other = signer(body, secrets);
    const finding = `The stack's output ${output} has the secret that signed it.`;
    if (other !== undefined) return { cause: "other-secret", finding, secret: other };
  }
  const all = [...signing.secrets, ...[...signing.others.values()].flat()];
  const undecoded = all.find((each) => isSignedWithText(each, body, sent));
  if (undecoded !== undefined) {
    const finding = "It was signed with the characters of the secret, not with the key that they encode.";
    return { cause: "key-not-decoded", finding, secret: undecoded };
  }
  for (const { cause, body: before, what } of bodiesBefore(body)) {
    const by = signer(before, all);
    const sizes = `${before.length} bytes were signed, and this body has ${body.length}`;
    if (by !== undefined) return { cause, finding: `The sender signed ${what} (${sizes}).`, secret: by };
  }
  const tried = all.map(fingerprint).join(", ");
  const finding = `No secret that was tried signed it (${tried}), and no usual change of the body explains that.`;
  return { cause: "signature-mismatch", finding };
}

/** Judges the time of a delivery whose signature matches. */
function clockProblem(
  timestamp: number,
  given: Pick<DiagnosisOptions, "receivedAt" | "now"> & { readonly toleranceSeconds: number },
) {
  const { toleranceSeconds, receivedAt, now } = given;
  if (timestamp >= FIRST_MILLISECOND) {
    const finding = `The timestamp ${timestamp} is not in seconds.`;
    return { cause: "timestamp-in-milliseconds", finding } as const;
  }
  const age = (receivedAt ?? now) - timestamp;
  const accepted = `and the receiver accepts ${toleranceSeconds}.`;
  if (toleranceSeconds === 0 || Math.abs(age) <= toleranceSeconds) return undefined;
  const when = receivedAt === undefined ? "now" : "when it was received";
  if (age < 0)
    return {
      cause: "timestamp-too-new",
      finding: `It was ${-age} seconds in the future ${when}, ${accepted}`,
    } as const;
  if (receivedAt === undefined) return undefined;
  return { cause: "timestamp-too-old", finding: `It was ${age} seconds old ${when}, ${accepted}` } as const;
}

function isSignedWithText(
  secret: string,
  body: Buffer,
  { id, timestamp, signature }: { id: string; timestamp: string; signature: string },
): boolean {
  return [secret, secret.replace(/^whsec_/, "")].some((key) => {
    const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
    return signature.split(" ").includes(`v1,${hmac.digest("base64")}`);
  });
}
