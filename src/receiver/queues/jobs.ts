import { isAnyArrayBuffer } from "node:util/types";
import { CodedError } from "../../shared/codedError";
import { isRecord, parseJson } from "../../shared/json";
import { asBuffer } from "../bytes";
import type { QueuedDelivery } from "./delivery";

/** One thing that a queue wants handled. */
export interface Job {
  readonly data: unknown;
  readonly isBullmq: boolean;
  readonly signal: AbortSignal | undefined;
  /** When the queue gives the job to another worker, in milliseconds. Only a job of pg-boss says so. */
  readonly expiresInMs?: number;
  /** What a program passed, and its place in that. BullMQ's job has more than its data, and none of it is the program's. */
  readonly passed: unknown;
  readonly path: string;
}

/** Returns what a queue passed to its worker: a batch of pg-boss, a job of either, or the data itself. */
export function jobsIn(queued: unknown, signal: AbortSignal | undefined): Job[] {
  // A list of a delivery's fields and values is no batch.
  if (Array.isArray(queued) && !hasFieldsOfDelivery(queued))
    return queued.map((each, at) => jobOf(each, `[${at}]`, signal));
  return [jobOf(queued, "", signal)];
}

function jobOf(queued: unknown, path: string, signal: AbortSignal | undefined): Job {
  if (!isRecord(queued) || !("data" in queued))
    return { data: queued, isBullmq: false, signal, passed: queued, path };
  const { data, moveToFailed, expireInSeconds, signal: own } = queued;
  // Each job of pg-boss has a signal of its own.
  const ownSignal = own instanceof AbortSignal ? own : undefined;
  const isBullmq = typeof moveToFailed === "function";
  const job = { data, isBullmq, signal: ownSignal ?? signal, passed: isBullmq ? { data } : queued, path };
  return typeof expireInSeconds === "number" ? { ...job, expiresInMs: expireInSeconds * 1_000 } : job;
}

/**
 * - `NOT_A_DELIVERY`: what the queue holds was not put there by a receiver
 * - `DELIVERY_VERSION`: it was, but by a later version of the package than the worker's
 */
export type QueuedDeliveryErrorCode = "NOT_A_DELIVERY" | "DELIVERY_VERSION";

/** A worker cannot read what the queue gave it. */
export class QueuedDeliveryError extends CodedError<QueuedDeliveryErrorCode> {
  /** BullMQ does not retry a job that failed with an error of the name "UnrecoverableError". */
  override readonly name: string = "QueuedDeliveryError";
}

const FIELDS: readonly (keyof QueuedDelivery)[] = ["version", "id", "key", "timestamp", "body"];

/** Returns whether a list, as of the fields of a record or of a stream's entry, names all that a delivery has. */
export function hasFieldsOfDelivery(names: readonly unknown[]): boolean {
  return FIELDS.every((name) => names.includes(name));
}

const NOT_BASE64 = /[^A-Za-z0-9+/=]/;

/** Returns the text that a value is, or that its bytes are, also those of another realm, without a byte order mark. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim();
  const bytes = isAnyArrayBuffer(value) ? new Uint8Array(value) : value;
  return ArrayBuffer.isView(bytes) ? asBuffer(bytes).toString().trim() : undefined;
}

/** @throws QueuedDeliveryError, whose message says what is wrong and repeats nothing of the value */
export function parseQueued(value: unknown): QueuedDelivery {
  const text = textIn(value);
  const parsed = text === undefined ? value : parseJson(text);
  if (!isRecord(parsed)) throw notADelivery("it is not a JSON object");
  const { version, id, key, timestamp, body }: Partial<Record<keyof QueuedDelivery, unknown>> = parsed;
  if (typeof version === "number" && version > 1)
    throw new QueuedDeliveryError(
      "DELIVERY_VERSION",
      `a receiver with a later version of pulumi-webhook-endpoints queued this delivery (format ${version}). Update the worker`,
    );
  if (version !== 1) throw notADelivery("it has no version 1");
  for (const [name, text] of Object.entries({ id, key, body }))
    if (typeof text !== "string") throw notADelivery(`its ${name} is not a string`);
  if (NOT_BASE64.test(String(body))) throw notADelivery("its body is not base64");
  if (!Number.isSafeInteger(timestamp)) throw notADelivery("its timestamp is not an integer");
  return parsed as unknown as QueuedDelivery;
}

function notADelivery(problem: string): QueuedDeliveryError {
  return new QueuedDeliveryError(
    "NOT_A_DELIVERY",
    `this is not a delivery that a receiver queued: ${problem}. Use the queue for deliveries only`,
  );
}
