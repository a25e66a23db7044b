import { isRecord, parseJson } from "../shared/json";
import { asBuffer } from "./bytes";
import type { Delivery, JobEvent, KeyedDelivery } from "./types";

/** What a body says, as far as it can be understood. */
export interface ReadEvent {
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  readonly data: unknown;
  /** The whole body, parsed. Undefined if it is not JSON. */
  readonly message: unknown;
}

/** The event type of a delivery that proves a receiver at deploy time (`validateReceiver`). No handler is called for it. */
export const VALIDATION_EVENT = "webhook.validation";

export const JOB_EVENTS: readonly JobEvent[] = ["job.running", "job.succeeded", "job.failed"];

export const EVENT_BY_STATUS: ReadonlyMap<unknown, JobEvent> = new Map(
  JOB_EVENTS.map((event) => [event.slice("job.".length), event]),
);
/** What a template makes of a property that is missing or null, or of an object: the same for every event. */
const NO_VALUE = /(^|[^\w-])(undefined|null|NaN)($|[^\w-])|\[object \w+\]/;
const BYTE_ORDER_MARK = 0xfeff;

/** A string, or a number. As JSON is known to be valid here, what looks like a number outside a string is one. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Reads a body in either of the shapes that the service may send: `{type, data: {jobId, …}}`, or a flat
 * `{jobId, status}` (or `job_id`) whose status names the event. Never throws: an unknown shape is an unknown event.
 */
export function readEvent(body: Uint8Array): ReadEvent {
  const text = textOf(body);
  const message = parseSafely(text);
  if (!isRecord(message)) return { event: undefined, jobId: undefined, data: message, message };
  const { type, status, data } = message;
  return {
    event: typeof type === "string" ? type : EVENT_BY_STATUS.get(status),
    jobId: jobIdOf(message, text),
    data: data ?? message,
    message,
  };
}

export type DedupeKey = (delivery: KeyedDelivery) => string;

/** Returns what identifies a delivery: what `dedupeKey` makes of it or, without one, its id. @throws if `dedupeKey` does */
export function dedupeKeyOf(delivery: Delivery, dedupeKey: DedupeKey | undefined): string {
  if (!dedupeKey || !isKeyed(delivery)) return delivery.id;
  const key: unknown = dedupeKey(delivery);
  if (typeof key === "string" && key !== "" && !lacksValue(key, delivery)) return key;
  throw new TypeError(
    "dedupeKey must return a non-empty string, made of properties that the delivery has. Return delivery.id if nothing better " +
      "identifies the event.",
  );
}

/** Returns whether a part of a key has no value. A text of the event may hold such a word itself, and JSON has `null` beside what differs. */
function lacksValue(key: string, { jobId, data }: KeyedDelivery): boolean {
  if (!NO_VALUE.test(key) || key.includes('":')) return false;
  const texts = textsIn([jobId, data]).filter((text) => NO_VALUE.test(text));
  return NO_VALUE.test(texts.reduce((rest, text) => rest.replaceAll(text, ""), key));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Returns true for the service's own events that have a job id. */
function isKeyed(delivery: Delivery): delivery is KeyedDelivery {
  return (JOB_EVENTS as readonly unknown[]).includes(delivery.event) && delivery.jobId !== undefined;
}

function jobIdOf(message: Record<string, unknown>, text: string): string | undefined {
  const id = rawJobId(message);
  if (typeof id !== "number" || Number.isSafeInteger(id)) return id?.toString();
  // JSON.parse has rounded the number, and two jobs could share the result: so take its digits from the JSON.
  const exact = parseSafely(quoteNumbers(text));
  return isRecord(exact) ? rawJobId(exact)?.toString() : undefined;
}

/** The job id in the data or, failing that, next to it. */
function rawJobId(message: Record<string, unknown>): string | number | undefined {
  for (const holder of [message.data, message]) {
    const id = isRecord(holder) ? (holder.jobId ?? holder.job_id) : undefined;
    if (typeof id === "number" || (typeof id === "string" && id !== "")) return id;
  }
  return undefined;
}

function quoteNumbers(json: string): string {
  try {
    return json.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`));
  } catch {
    return ""; // a string too long for the regular expression
  }
}

function textOf(body: Uint8Array): string {
  const text = asBuffer(body).toString("utf8");
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/** Returns undefined if the string is not JSON. */
function parseSafely(text: string): unknown {
  const value = parseJson(text);
  // A name can be written with escapes, so a backslash is reason enough to look.
  if (text.includes("__proto__") || text.includes("\\")) dropPrototypes(value);
  return value;
}

/**
 * Removes own properties named `__proto__`. They are harmless where they are, but a handler that copies them with `Object.assign`
 * sets a prototype. Uses a stack of its own, not recursion: JSON.parse accepts deeper nesting than calls do.
 */
function dropPrototypes(root: unknown): void {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
    for (const inner of Object.values(value)) if (inner instanceof Object) open.push(inner);
  }
}
