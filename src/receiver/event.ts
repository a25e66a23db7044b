import type { Delivery, JobDelivery } from "./types";

/** What a body tells, as far as it can be understood. */
export interface ReadEvent {
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  readonly data: unknown;
}

const JOB = "job.";
const STATUSES: ReadonlySet<unknown> = new Set(["running", "succeeded", "failed"]);
const BYTE_ORDER_MARK = 0xfeff;
const NOTHING: ReadEvent = { event: undefined, jobId: undefined, data: undefined };

/**
 * Reads a body in either of the shapes that the service may send: `{type, data: {jobId, …}}`, or a flat
 * `{jobId, status}` (or `job_id`) whose status names the event. Never throws: what it does not understand is an unknown event.
 */
export function readEvent(body: Uint8Array): ReadEvent {
  const message = parseJson(body);
  if (!isRecord(message)) return { ...NOTHING, data: message };
  const data = message.data ?? message;
  const jobId = jobIdOf(data) ?? jobIdOf(message);
  if (typeof message.type === "string") return { event: message.type, jobId, data };
  const status = message.status;
  return { event: STATUSES.has(status) ? `${JOB}${String(status)}` : undefined, jobId, data };
}

/** Whether a handler can be given this: its types promise one of the service's events, a job id and an object. */
export function isJobDelivery(delivery: Delivery): delivery is JobDelivery {
  const { event, jobId, data } = delivery;
  return (
    event?.startsWith(JOB) === true &&
    STATUSES.has(event.slice(JOB.length)) &&
    jobId !== undefined &&
    isRecord(data)
  );
}

function jobIdOf(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const id = value.jobId ?? value.job_id;
  if (typeof id === "string" && id !== "") return id;
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(body: Uint8Array): unknown {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    return undefined;
  }
  // A name may be spelt with escapes, so each backslash is reason enough to look.
  if (text.includes("__proto__") || text.includes("\\")) dropPrototypes(value);
  return value;
}

/**
 * Removes own properties of the name `__proto__`: harmless where they are, but a handler that copies them with `Object.assign`
 * sets a prototype. A stack of its own rather than recursion: JSON.parse nests deeper than calls can.
 */
function dropPrototypes(root: unknown): void {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
    for (const inner of Object.values(value)) if (inner instanceof Object) open.push(inner);
  }
}
