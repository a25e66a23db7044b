import { isRecord, parseJson } from "../shared/json";
import type { JobEvent } from "./types";

/** What a body says, as far as it can be understood. */
export interface ReadEvent {
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  readonly data: unknown;
}

/** The event type of a delivery that proves a receiver at deploy time (`validateReceiver`). No handler is called for it. */
export const VALIDATION_EVENT = "webhook.validation";

export const JOB_EVENTS: readonly JobEvent[] = ["job.running", "job.succeeded", "job.failed"];

const EVENT_BY_STATUS: ReadonlyMap<unknown, JobEvent> = new Map(
  JOB_EVENTS.map((event) => [event.slice("job.".length), event]),
);

/**
 * Reads a body in either of the shapes that the service may send: `{type, data: {jobId, …}}`, or a flat
 * `{jobId, status}` (or `job_id`) whose status names the event. Never throws: an unknown shape is an unknown event.
 */
export function readEvent(body: Uint8Array): ReadEvent {
  const message = parseJson(asBuffer(body).toString());
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

function jobIdIn(holder: unknown): string | undefined {
  if (!isRecord(holder)) return undefined;
  const id = holder.jobId ?? holder.job_id;
  if (typeof id === "string" && id !== "") return id;
  // JSON.parse rounds a larger number, and two jobs could share the result.
  return Number.isSafeInteger(id) ? String(id) : undefined;
}
