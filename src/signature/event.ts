import { isRecord, parseJson } from "../shared/json";
import type { RawBody } from "./result";

/** The events of the service. */
export type JobEvent = "job.running" | "job.succeeded" | "job.failed";

export const JOB_EVENTS: readonly JobEvent[] = ["job.running", "job.succeeded", "job.failed"];

export function isJobEvent(name: unknown): name is JobEvent {
  return JOB_EVENTS.some((event) => event === name);
}

/** The type of the event that proves a receiver at deploy time (`validateReceiver`). A receiver calls no handler for it. */
export const VALIDATION_EVENT = "webhook.validation";

/** How the ids of these deliveries begin, the broken one's, too. */
export const VALIDATION_ID = "msg_validation_";

/** What a verified message says: its signature matched and its timestamp was inside the tolerance. */
export interface WebhookEvent<Event extends string | undefined = string | undefined, Data = unknown> {
  /** `webhook-id`: the same in each retry of this delivery. */
  readonly id: string;
  /** When it was sent, in unix seconds. */
  readonly timestamp: number;
  /** The event's name. Undefined if the body names none. */
  readonly event: Event;
  /** The job's id. Undefined if the body has none, or a number that JavaScript would round. */
  readonly jobId: string | undefined;
  /** The event's data: the body's `data`, or the whole body if it has none. Undefined if the body is not JSON. */
  readonly data: Data;
}

const EVENT_BY_STATUS: ReadonlyMap<unknown, JobEvent> = new Map(
  JOB_EVENTS.map((event) => [event.slice("job.".length), event]),
);

/**
 * Reads a body in either of the shapes that the service may send: `{type, data: {jobId, …}}`, or a flat
 * `{jobId, status}` (or `job_id`) whose status names the event. Never throws: an unknown shape is an unknown event.
 */
export function readEvent(body: RawBody): Pick<WebhookEvent, "event" | "jobId" | "data"> {
  // JSON has no byte order mark, but some senders begin a body with one.
  const message = parseJson(textOf(body).replace(/^\uFEFF/, ""));
  if (!isRecord(message)) return { event: undefined, jobId: undefined, data: message };
  const { type, status, data } = message;
  return {
    event: typeof type === "string" ? type : EVENT_BY_STATUS.get(status),
    jobId: jobIdIn(data) ?? jobIdIn(message),
    data: data ?? message,
  };
}

/** Returns the same bytes, not a copy of them. */
export function asBuffer(bytes: ArrayBufferView): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function textOf(body: RawBody): string {
  if (typeof body === "string") return body;
  return (ArrayBuffer.isView(body) ? asBuffer(body) : Buffer.from(body)).toString();
}

function jobIdIn(record: unknown): string | undefined {
  if (!isRecord(record)) return undefined;
  const id = record.jobId ?? record.job_id;
  if (typeof id === "string" && id !== "") return id;
  // JSON.parse rounds a larger number, and two jobs could share the result.
  return Number.isSafeInteger(id) ? String(id) : undefined;
}
