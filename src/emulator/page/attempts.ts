import { isUtf8 } from "node:buffer";
import { isRefusal, isSuccess } from "../../shared/isSuccess";
import type { LoggedAttempt, OpenAttempt } from "../event";
import type { Tone, View } from "./layout";

/** How long a retry may be late before its delivery counts as failed, in milliseconds. */
const RETRY_GRACE_MS = 1_000;

/** One attempt of a delivery, as the page shows it: without a `statusCode` while there is no result, with null for no answer. */
export interface ShownAttempt
  extends Omit<OpenAttempt, "headers" | "body" | "tampered" | "replayed">,
    Partial<Omit<LoggedAttempt, keyof OpenAttempt>> {
  /** Those to show and to save: none that holds a credential. */
  readonly headers: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[];
  /** Null if the request was refused before it was read. */
  readonly body: string | Uint8Array | null;
  readonly tampered?: boolean;
  readonly replayed?: boolean;
  /** A line to show with it, such as "signature not checked". */
  readonly note?: string;
}

export const STATES = {
  sending: "busy",
  retrying: "busy",
  delivered: "good",
  failed: "bad",
  "forgery refused": "good",
  "forgery accepted": "bad",
} as const satisfies Readonly<Record<string, Tone>>;

type Attempts = readonly [ShownAttempt, ...ShownAttempt[]];

export interface ShownDelivery {
  readonly attempts: Attempts;
  readonly state: keyof typeof STATES;
}

/** Groups attempts into deliveries, newest first. */
export function deliveriesOf(attempts: readonly ShownAttempt[], now = Date.now()): ShownDelivery[] {
  const groups = new Map<string, [ShownAttempt, ...ShownAttempt[]]>();
  for (const attempt of attempts) {
    const key = `${attempt.id}\n${attempt.endpointId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [attempt]);
    else group.push(attempt);
  }
  return [...groups.values()].reverse().map((group) => ({ attempts: group, state: stateOf(group, now) }));
}

/** Replays and forgeries count only if there is nothing else, or if a forgery was accepted. */
function stateOf(attempts: Attempts, now: number): ShownDelivery["state"] {
  if (attempts.some(({ statusCode }) => statusCode === undefined)) return "sending";
  if (attempts.some(({ tampered, statusCode }) => tampered && isSuccess(statusCode)))
    return "forgery accepted";
  const genuine = attempts.filter(isGenuine);
  const judged = genuine.length === 0 ? attempts : genuine;
  if (judged.some(({ statusCode }) => isSuccess(statusCode))) return "delivered";
  const { tampered, statusCode, at, durationMs = 0, retryInMs } = judged.at(-1) ?? attempts[0];
  // No answer, or one from a wrong path or of a server that failed, is no sign that the receiver verifies.
  if (tampered && isRefusal(statusCode)) return "forgery refused";
  return retryInMs != null && now < at + durationMs + retryInMs + RETRY_GRACE_MS ? "retrying" : "failed";
}

export function isGenuine({ replayed, tampered }: ShownAttempt): boolean {
  return !replayed && !tampered;
}

/** Returns whether a delivery has the status that a view selects, and the text, in any case, in one of its attempts. */
export function matches({ attempts, state }: ShownDelivery, { q, status }: View): boolean {
  if (status !== "" && state !== status) return false;
  const wanted = q.trim().toLowerCase();
  return attempts.some((attempt) => {
    const { id, endpointId, type, url, answer, error, note, statusCode } = attempt;
    const texts = [id, endpointId, type, url, answer, error, note, statusCode, bytesOf(attempt)];
    return wanted === "" || texts.some((text) => text?.toString().toLowerCase().includes(wanted));
  });
}

export function bytesOf({ body }: ShownAttempt): Buffer {
  return Buffer.from(body ?? "");
}

/** The headers that a receiver needs to verify and to read the body. One that came twice is there twice. */
export function headersOf({ headers }: ShownAttempt): readonly (readonly [string, string])[] {
  if (Symbol.iterator in headers) return headers;
  return Object.entries({ "content-type": "application/json", ...headers });
}

/** Returns the file that `verify --capture` and `send --capture` read. A body that is not UTF-8 is in base64. */
export function captureFile(attempt: ShownAttempt): string {
  const bytes = bytesOf(attempt);
  const isBase64Encoded = !isUtf8(bytes);
  const body = bytes.toString(isBase64Encoded ? "base64" : "utf8");
  const receivedAt = new Date(attempt.at).toISOString();
  return JSON.stringify({ receivedAt, headers: headersOf(attempt), body, isBase64Encoded }, undefined, 2);
}
