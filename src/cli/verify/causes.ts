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
  | { readonly verified: true; readonly id: string; readonly timestamp: number; readonly secret: string }
  | {
      readonly verified: false;
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

/** Finds out whether a captured delivery verifies and, if not, the usual cause that explains it. */
export function diagnose({ capture, signing, receivedAt, now }: DiagnosisOptions): Diagnosis {
  const { headers, body } = capture;
  const sent = readSignatureHeaders(headers);
  if (typeof sent === "string") return failed(sent, FINDINGS[sent] ?? sent);
  const signer = (candidate: Uint8Array, secrets: readonly string[]) =>
    secrets.find((secret) => verifyDetailed(candidate, headers, secret, 0).ok);

  const secret = signer(body, signing.secrets);
  if (secret !== undefined) {
    const timestamp = Number(sent.timestamp);
    return (
      clockProblem(timestamp, { signing, receivedAt, now }, secret) ?? {
        verified: true,
        id: sent.id,
        timestamp,
        secret,
      }
    );
  }
  const result = verifyDetailed(body, headers, signing.secrets, 0);
  if (!result.ok && result.reason !== "signature-mismatch")
    return failed(result.reason, FINDINGS[result.reason] ?? result.reason);
  for (const [output, secrets] of signing.others) {
    const other = signer(body, secrets);
    if (other !== undefined)
      return failed("other-secret", `The stack's output ${output} has the secret that signed it.`, other);
  }
  const all = [...signing.secrets, ...[...signing.others.values()].flat()];
  const undecoded = all.find((each) => isSignedWithText(each, body, sent));
  if (undecoded !== undefined)
    return failed(
      "key-not-decoded",
      "It was signed with the characters of the secret, not with the key that they encode.",
      undecoded,
    );
  for (const { cause, body: before, what } of bodiesBefore(body)) {
    const by = signer(before, all);
    const sizes = `${before.length} bytes were signed, and this body has ${body.length}`;
    if (by !== undefined) return failed(cause, `The sender signed ${what} (${sizes}).`, by);
  }
  const tried = all.map(fingerprint).join(", ");
  return failed(
    "signature-mismatch",
    `No secret that was tried signed it (${tried}), and no usual change of the body explains that.`,
  );
}

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

/** Judges the time of a delivery whose signature matches. */
function clockProblem(
  timestamp: number,
  { signing, receivedAt, now }: Omit<DiagnosisOptions, "capture">,
  secret: string,
): Diagnosis | undefined {
  const { toleranceSeconds } = signing;
  if (timestamp >= FIRST_MILLISECOND)
    return failed("timestamp-in-milliseconds", `The timestamp ${timestamp} is not in seconds.`, secret);
  const age = (receivedAt ?? now) - timestamp;
  if (toleranceSeconds === 0 || Math.abs(age) <= toleranceSeconds) return undefined;
  if (age > 0 && receivedAt === undefined) return undefined;
  const [cause, side] =
    age > 0 ? (["timestamp-too-old", "old"] as const) : (["timestamp-too-new", "in the future"] as const);
  const finding = `It was ${Math.abs(age)} seconds ${side} ${receivedAt === undefined ? "now" : "when it was received"}, and the receiver accepts ${toleranceSeconds}.`;
  return failed(cause, finding, secret);
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

function failed(cause: VerifyCause | VerificationFailure, finding: string, secret?: string): Diagnosis {
  return { verified: false, cause, finding, ...(secret !== undefined && { secret }) };
}
