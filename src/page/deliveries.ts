import type { HeaderPair } from "../shared/captureFile";
import { isRefusal, isSuccess } from "../shared/status";
import type { Tone, View } from "./components";

/** One attempt to deliver an event. */
export interface Attempt {
  /** Counts all attempts from 1, in the order in which they were sent. */
  readonly number: number;
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
  /** The header `webhook-id`. */
  readonly id: string;
  /** The event's name, such as `job.succeeded`. */
  readonly event: string;
  /** The id of the endpoint. */
  readonly endpointId: string;
  /** The url that it was sent to. */
  readonly url: string;
  /** 1 for the first at this endpoint. */
  readonly attempt: number;
}

/** An attempt as the page shows it. */
export interface ShownAttempt extends Attempt {
  /** Those to show and to save: none that holds a credential. One that came twice is in a list of pairs twice. */
  readonly headers: Readonly<Record<string, string>> | readonly HeaderPair[];
  /** Null if the request was refused before it was read. */
  readonly body: string | Buffer | null;
  readonly tampered?: boolean;
  readonly replayed?: boolean;
  /** A line to show with it, such as "signature not checked". */
  readonly note?: string;
  /** Absent while there is no result, null if there was no response. */
  readonly status?: number | null;
  /** Why there was no whole response. */
  readonly error?: string | null;
  readonly response?: string;
  readonly durationMs?: number;
  /** The wait until the next attempt. */
  readonly retryInMs?: number | null;
}

/** The most of a body that the page reads, in bytes: it shows less. A sender may send a hundred of 1 MiB, and the page asks each second. */
export const READ_BYTES = 64 * 1024;

/** Returns a body as the page searches and shows it: only the beginning of a long one. */
export function readable(body: ShownAttempt["body"]): string {
  return typeof body === "string"
    ? body.slice(0, READ_BYTES)
    : (body ?? Buffer.alloc(0)).subarray(0, READ_BYTES).toString();
}

export const STATES = {
  sending: "busy",
  retrying: "busy",
  delivered: "good",
  failed: "bad",
  "forgery refused": "good",
  "forgery accepted": "bad",
} as const satisfies Readonly<Record<string, Tone>>;

/** A delivery to one endpoint: its attempts, oldest first. */
export interface ShownDelivery {
  readonly first: ShownAttempt;
  readonly attempts: ShownAttempt[];
}

/** Groups attempts into deliveries, newest first. */
export function deliveriesOf(attempts: readonly ShownAttempt[]): ShownDelivery[] {
  const deliveries = new Map<string, ShownDelivery>();
  for (const attempt of attempts) {
    const key = `${attempt.id}\n${attempt.endpointId}`;
    const delivery = deliveries.get(key) ?? { first: attempt, attempts: [] };
    delivery.attempts.push(attempt);
    deliveries.set(key, delivery);
  }
  return [...deliveries.values()].reverse();
}

/** Replays and forgeries count only if there is nothing else, or if a forgery was accepted. */
export function stateOf({ first, attempts }: ShownDelivery): keyof typeof STATES {
  if (attempts.some(({ status }) => status === undefined)) return "sending";
  if (attempts.some(({ tampered, status }) => tampered && isSuccess(status))) return "forgery accepted";
  const genuine = attempts.filter(isGenuine);
  const judged = genuine.length === 0 ? attempts : genuine;
  if (judged.some(({ status }) => isSuccess(status))) return "delivered";
  const last = judged.at(-1) ?? first;
  // No response, or one from a wrong path or of a server that failed, is no sign that the receiver verifies.
  if (last.tampered && toneOf(last) === "good") return "forgery refused";
  return last.retryInMs == null ? "failed" : "retrying";
}

/** Returns what an attempt says about the receiver: as it should be, or not. */
export function toneOf({ tampered = false, status }: ShownAttempt): Tone {
  if (status === undefined) return "busy";
  const isGood = tampered ? isRefusal(status) : isSuccess(status);
  return isGood ? "good" : "bad";
}

export function isGenuine({ replayed, tampered }: ShownAttempt): boolean {
  return !replayed && !tampered;
}

/** Returns whether a delivery has the status that a view selects, and the text, in any case, in one of its attempts. */
export function matches(delivery: ShownDelivery, { q = "", status: state = "" }: View): boolean {
  const query = q.trim().toLowerCase();
  const isFound = query === "" || delivery.attempts.some((each) => textOf(each).includes(query));
  return isFound && (state === "" || state === stateOf(delivery));
}

function textOf({ id, endpointId, event, url, body, status, response, error, note }: ShownAttempt): string {
  const texts = [id, endpointId, event, url, readable(body), status, response, error, note];
  return texts.join("\n").toLowerCase();
}

export function headersOf({ headers }: ShownAttempt): readonly HeaderPair[] {
  return Symbol.iterator in headers ? headers : Object.entries(headers);
}

/** Returns the last genuine attempt of each delivery that failed, oldest first. */
export function failedIn(attempts: readonly ShownAttempt[]): ShownAttempt[] {
  const failed = deliveriesOf(attempts).filter((each) => stateOf(each) === "failed");
  return failed.flatMap((each) => each.attempts.findLast(isGenuine) ?? []).reverse();
}
