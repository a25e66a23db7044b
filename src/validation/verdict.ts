/** What came back: a status, or why there is none. */
export interface Answer {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Where a redirect points to, absolute. */
  readonly location?: string;
  /** The system's or TLS's code, such as `ENOTFOUND`, when there was no answer. */
  readonly failure?: string;
}

/** Why a receiver is not validated. Stable. See the table of errors in the documentation. */
export type ValidationErrorCode =
  | "BROKEN_ACCEPTED"
  | "BROKEN_UNANSWERED"
  | "GENUINE_REFUSED"
  | "RECEIVER_BLOCKED"
  | "RECEIVER_NOT_READY"
  | "RECEIVER_REDIRECTED"
  | "RECEIVER_UNREACHABLE";

/** What a receiver answered to a genuine delivery and to the same with a broken signature. */
export interface Answers {
  readonly genuine: Answer;
  readonly broken: Answer;
}

/** Codes that waiting does not change. */
const FINAL: ReadonlySet<ValidationErrorCode> = new Set(["BROKEN_ACCEPTED", "RECEIVER_REDIRECTED"]);

/** Codes that show what the receiver does with deliveries. */
const REFUTING: ReadonlySet<ValidationErrorCode> = new Set([
  "BROKEN_ACCEPTED",
  "GENUINE_REFUSED",
  "RECEIVER_BLOCKED",
]);

/** Returns whether a later attempt may succeed: a new release may still be on its way. */
export function canPass(code: ValidationErrorCode): boolean {
  return !FINAL.has(code);
}

/** Returns whether the code shows that the receiver does not work. Otherwise it could only not be asked. */
export function isRefuting(code: ValidationErrorCode): boolean {
  return REFUTING.has(code);
}

export function isAccepted({ status }: Answer): boolean {
  return isWithin(status, 200);
}

/** Judges a pair of answers. Null means: the genuine delivery was accepted and the broken one refused. */
export function judge({ genuine, broken }: Answers): ValidationErrorCode | null {
  if (isAccepted(broken)) return "BROKEN_ACCEPTED";
  if (genuine.status === null) return "RECEIVER_UNREACHABLE";
  const both = [genuine.status, broken.status].filter((status) => status !== null);
  if (both.some((status) => isWithin(status, 300))) return "RECEIVER_REDIRECTED";
  // A broken delivery that is answered 404 was refused, like any 4xx. A genuine one met a route that is not there yet.
  if (genuine.status === 404 || both.some(saysNothing)) return "RECEIVER_NOT_READY";
  if (genuine.status === 403 && broken.status === 403) return "RECEIVER_BLOCKED";
  if (isWithin(genuine.status, 400)) return "GENUINE_REFUSED";
  return broken.status === null ? "BROKEN_UNANSWERED" : null;
}

/** Returns whether a status is about the server and not about the delivery. */
function saysNothing(status: number): boolean {
  return status === 408 || status === 429 || !(isWithin(status, 200) || isWithin(status, 400));
}

function isWithin(status: number | null, hundred: number): boolean {
  return status !== null && status >= hundred && status < hundred + 100;
}
