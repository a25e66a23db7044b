import { check } from "../../signature/check";
import { readSignatureHeaders } from "../../signature/headers";
import type { VerificationFailure } from "../../signature/result";
import { keyOf } from "../../signature/secret";
import { type HeaderPair, headerValue } from "../capture/headerPair";
import type { NamedSecret } from "../secrets/secrets";
import { clockText, durationText } from "../text";
import { ADVICE, adviceFor, type DiagnosisReason } from "./advice";
import { type BodyVariant, LARGEST_REWRITTEN_BYTES } from "./bodyVariant";
import { bodyVariants } from "./bodyVariants";
import { hintsFor } from "./hints";
import { type Searched, type SearchOptions, search } from "./search";
import { signatureMistake } from "./signatureMistake";

export interface DiagnosisOptions extends SearchOptions {
  readonly body: Buffer;
  readonly headers: readonly HeaderPair[];
  /** Those that the receiver has. */
  readonly secrets: readonly NamedSecret[];
  /** Those that other receivers of the stack have. */
  readonly otherSecrets: readonly NamedSecret[];
  readonly toleranceSeconds: number;
  /** When the receiver got the delivery, in unix seconds. Undefined if that is unknown. */
  readonly receivedAt: number | undefined;
  /** Unix seconds. */
  readonly now: number;
}

/** Whether a captured delivery verifies. No part holds a secret, a header but the id and the timestamp, or the body. */
export type Diagnosis =
  | {
      readonly verified: true;
      readonly id: string;
      readonly timestamp: number;
      readonly secret: NamedSecret;
    }
  | {
      readonly verified: false;
      readonly reason: DiagnosisReason;
      /** What was found, as a sentence. */
      readonly finding: string;
      /** What to do, in sentences. */
      readonly advice: string;
      /** The secret that signed, if one is known to have. */
      readonly secret?: NamedSecret;
    };

/** Finds out whether a captured delivery verifies and, if not, why: another body, another secret, or a clock. */
export function diagnose(options: DiagnosisOptions): Diagnosis {
  const { body, headers, secrets, otherSecrets } = options;
  const sent = readSignatureHeaders(headers);
  if (typeof sent === "string") return failed(sent as DiagnosisReason, { headers });
  const signedBy = (candidate: Uint8Array, among: readonly NamedSecret[]) =>
    among.find((secret) => isSigned(candidate, headers, secret));

  const secret = signedBy(body, secrets);
  if (secret !== undefined) {
    const timestamp = Number(sent.timestamp);
    return clockProblem(timestamp, options, secret) ?? { verified: true, id: sent.id, timestamp, secret };
  }
  const other = signedBy(body, otherSecrets);
  if (other !== undefined)
    return failed("other-secret", {
      secret: other,
      finding: `The signature matches ${other.name}, which this receiver does not have.`,
    });

  const all = [...secrets, ...otherSecrets];
  const reason = reasonForMismatch(body, headers, all);
  // Such a header may hold the right signature in the right form.
  if (reason === "duplicate-signature" || reason === "too-many-signatures")
    return failed(reason, { headers });
  const mistake = signatureMistake({ body, sent, secrets: all });
  if (mistake !== undefined)
    return failed(mistake.reason, { secret: mistake.secret, finding: mistake.finding });
  if (reason !== "wrong-secret") return failed(reason, { headers });

  const variants = bodyVariants(body, headerValue(headers, "content-encoding"));
  const explain = (variant: BodyVariant) => {
    const by = signedBy(variant.bytes, all);
    return by && { ...variant, by };
  };
  const { found, ...searched } = search(variants, explain, options);
  if (found !== undefined) {
    const { change, by, bytes, description } = found;
    const isOther = otherSecrets.includes(by);
    const sizes = `${bytes.byteLength} bytes were signed, and this body has ${body.byteLength}`;
    return failed(change, {
      secret: by,
      finding: `The signature matches ${by.name}${isOther ? ", which this receiver does not have," : ""} for another body: the sender signed ${description} (${sizes}).`,
      more: isOther ? ADVICE["other-secret"].advice : "",
    });
  }
  return unexplained({ ...options, ...searched });
}

/** Returns that nothing explains the mismatch, with what is conspicuous about the delivery. */
export function unexplained({
  body,
  headers,
  seconds,
  hasEnded,
  tried,
}: Pick<DiagnosisOptions, "body" | "headers" | "seconds"> & Omit<Searched<never>, "found">): Diagnosis {
  const isLarge = body.byteLength > LARGEST_REWRITTEN_BYTES;
  const why = hasEnded
    ? `The search ended after ${seconds} s and ${tried} bodies.`
    : `The body has more than ${LARGEST_REWRITTEN_BYTES / 2 ** 20} MiB, so it was not tried as other JSON.`;
  const reason = hasEnded || isLarge ? "search-ended" : "wrong-secret";
  const { finding } = adviceFor(reason, headers);
  const parts = [finding, ...(reason === "search-ended" ? [why] : []), ...hintsFor(body, headers)];
  return failed(reason, { headers, finding: parts.join(" ") });
}

function isSigned(body: Uint8Array, headers: readonly HeaderPair[], { value }: NamedSecret): boolean {
  return check({ rawBody: body, headers, keys: [keyOf(value)], toleranceSeconds: 0, now: 0 }).ok;
}

function reasonForMismatch(
  body: Uint8Array,
  headers: readonly HeaderPair[],
  secrets: readonly NamedSecret[],
): DiagnosisReason {
  const keys = secrets.map(({ value }) => keyOf(value));
  const result = check({ rawBody: body, headers, keys, toleranceSeconds: 0, now: 0 });
  if (result.ok || result.reason === "signature-mismatch") return "wrong-secret";
  // The other reasons are about a parsed body, a secret or a clock, of which there is none here.
  return result.reason as Exclude<DiagnosisReason & VerificationFailure, "signature-mismatch">;
}

/**
 * Judges the timestamp of a delivery whose signature matches: at the time at which the receiver got it, if that is known. Otherwise
 * only a timestamp in the future is wrong, because a capture is old by nature.
 */
function clockProblem(
  timestamp: number,
  { toleranceSeconds, receivedAt, now }: DiagnosisOptions,
  secret: NamedSecret,
): Diagnosis | undefined {
  if (toleranceSeconds === 0) return undefined;
  const age = (receivedAt ?? now) - timestamp;
  const moment = receivedAt === undefined ? "now" : "when it was received";
  const window = `The receiver accepts ${durationText(toleranceSeconds)}.`;
  if (age < -toleranceSeconds) {
    const isOtherUnit = timestamp > now * 100;
    const unit = timestamp > now * 100_000 ? "microseconds" : "milliseconds";
    return failed(isOtherUnit ? "timestamp-in-milliseconds" : "timestamp-too-new", {
      secret,
      finding: isOtherUnit
        ? `The signature matches ${secret.name}, but the timestamp ${timestamp} is in ${unit}, not in seconds.`
        : `The signature matches ${secret.name}, but the timestamp (${clockText(timestamp)}) was ${durationText(-age)} in the future ${moment}. ${window}`,
    });
  }
  if (receivedAt === undefined || age <= toleranceSeconds) return undefined;
  return failed("timestamp-too-old", {
    secret,
    finding: `The signature matches ${secret.name}, but the delivery (sent ${clockText(timestamp)}) was ${durationText(age)} old ${moment}. ${window}`,
  });
}

interface Failure {
  readonly finding?: string;
  readonly secret?: NamedSecret;
  /** Comes before the advice of the reason. */
  readonly more?: string;
  readonly headers?: readonly HeaderPair[];
}

function failed(reason: DiagnosisReason, { finding, secret, more = "", headers = [] }: Failure): Diagnosis {
  const known = adviceFor(reason, headers);
  return {
    verified: false,
    reason,
    finding: finding ?? known.finding,
    advice: `${more} ${known.advice}`.trim(),
    ...(secret === undefined ? {} : { secret }),
  };
}
