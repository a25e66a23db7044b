import { isRecord, parseJson } from "../../shared/json";
import { isThenable } from "../deadline";
import type { QueuedDelivery } from "./delivery";
import { hasFieldsOfDelivery, type Job, parseQueued, QueuedDeliveryError, textIn } from "./jobs";

/** How many objects and lists a delivery may be inside. */
const DEEPEST = 8;
/** How often a text may be encoded, as JSON or in base64. */
const MOST_ENCODINGS = 3;
/** How many values, and how many characters of text, are searched. */
const MOST_VALUES = 10_000;
const MOST_CHARACTERS = 32 * 1024 * 1024;
/** A name that a message may repeat. Any other could be a secret. */
const PLAIN_NAME = /^(?!whsec_)[a-z][\w-]{0,39}$/i;
/** How a delivery begins as JSON. */
const BEGINNING = /^\{\s*"version":\s*\d+,\s*"id":\s*"/;
const SQS_BODY = /^\.Records\[\d+\]\.body$/;

/**
 * Returns the delivery of a job.
 * @throws QueuedDeliveryError if the job holds none
 * @throws TypeError if the delivery is inside something else, or the worker was called wrongly, which says what to pass: an
 * acknowledgment would lose the delivery
 */
export function deliveryOf(job: Job): QueuedDelivery {
  try {
    return parseQueued(job.data);
  } catch (error) {
    if ([job.passed, job.data].some(isThenable))
      throw new TypeError("The worker got a promise. Await it first.");
    const advice = isNoDelivery(error) ? adviceFor(job) : undefined;
    if (advice !== undefined)
      throw new TypeError(`The worker got what holds a delivery. ${advice}.`, { cause: error });
    const change = isNoDelivery(error) ? changeIn(job.data) : undefined;
    if (change !== undefined)
      throw new TypeError(
        `The worker got a delivery ${change}: what stores it has changed its form. Store the delivery as JSON, or give it its form again.`,
        { cause: error },
      );
    if (canBeQueued(job.data)) throw error;
    const kind = typeof job.data === "object" ? "an object of a class" : typeof job.data;
    throw new TypeError(`The worker got ${kind}, which no queue holds. Pass what the queue holds.`);
  }
}

/**
 * Returns how a store has changed a delivery, undefined if it is none. A stream of Redis holds only strings, and its clients list names
 * and values; PostgreSQL's return a `bigint` as a string; DynamoDB has an object for each value.
 */
function changeIn(value: unknown): string | undefined {
  const text = textIn(value);
  const stored = text === undefined ? value : parseJson(text);
  if (stored === undefined && BEGINNING.test(text ?? "")) return "that is cut off";
  if (Array.isArray(stored) && hasFieldsOfDelivery(stored)) return "as a list of names and values";
  if (!isRecord(stored)) return undefined;
  if (hasFieldsOfDelivery(Object.keys(stored)) && Object.values(stored).every(isRecord))
    return "with an object for each value";
  const { version, timestamp, id, key, body } = stored;
  const base64 = typeof body === "string" ? body.replace(/\s+/g, "") : textOf(body) && "";
  if (base64 !== body && isDelivery({ version, timestamp, id, key, body: base64 }))
    return "whose body is no base64 any more";
  const numbers = { version: numberFrom(version), timestamp: numberFrom(timestamp) };
  if (!isDelivery({ id, key, body, ...numbers })) return undefined;
  return `whose ${numbers.version === version ? "timestamp" : "version"} is no number any more`;
}

function numberFrom(value: unknown): unknown {
  const isNumber = typeof value === "bigint" || (typeof value === "string" && /^\d+$/.test(value));
  return isNumber ? Number(value) : value;
}

/** Returns whether a value may come out of a queue: JSON, parsed in any realm, or bytes. */
function canBeQueued(value: unknown): boolean {
  if (value === null || Array.isArray(value) || textIn(value) !== undefined) return true;
  if (typeof value !== "object") return ["number", "boolean"].includes(typeof value);
  return Object.getPrototypeOf(Object.getPrototypeOf(value) ?? value) === null;
}

export function isNoDelivery(error: unknown): error is QueuedDeliveryError {
  return error instanceof QueuedDeliveryError && error.code === "NOT_A_DELIVERY";
}

function adviceFor({ passed, path: start }: Job): string | undefined {
  const found = search(passed);
  const known = knownAdvice(passed);
  // For the event of Lambda on SQS, there is a handler.
  if (found === undefined || (known !== undefined && SQS_BODY.test(found.path))) return known;
  const path = `${start}${found.path}`.replace(/^\./, "");
  if (path === "") return found.isBase64 ? "Decode it from base64 first" : "Parse it as JSON first";
  const others = path.includes("[") ? ", and the same of each other element" : "";
  return `Pass its \`${path}\`${found.isBase64 ? ", decoded from base64" : ""}${others}`;
}

/** Returns what to pass in place of a value that should hold a delivery, whatever it holds. */
function knownAdvice(value: unknown): string | undefined {
  if (!isRecord(value) || "data" in value) return undefined;
  if (Array.isArray(value.Records)) return "Pass sqsHandler(worker) to Lambda";
  if ("Body" in value) return "Pass its Body";
  if ("value" in value && "offset" in value) return "Pass its value";
  return isRecord(value.message) && "value" in value.message ? "Pass message.value" : undefined;
}

interface Found {
  readonly path: string;
  readonly isBase64: boolean;
}

/** Finds a delivery inside a value, the least deep one first. */
function search(root: unknown): Found | undefined {
  const open = [{ value: root, path: "", depth: 0 }];
  let characters = 0;
  // The loop also reaches what it adds.
  for (const { value, path, depth } of open) {
    let inner = value;
    let isBase64 = false;
    for (let times = 0; times < MOST_ENCODINGS; times++) {
      const text = textOf(inner);
      characters += text?.length ?? 0;
      if (text === undefined || characters > MOST_CHARACTERS) break;
      inner = parseJson(text);
      if (inner !== undefined) continue;
      isBase64 = true;
      inner = parseJson(Buffer.from(text, "base64").toString());
    }
    if (isDelivery(inner)) return { path, isBase64 };
    if (depth === DEEPEST) continue;
    const isList = Array.isArray(inner);
    for (const [name, each] of fieldsOf(inner))
      if (open.length < MOST_VALUES)
        open.push({ value: each, path: `${path}${isList ? `[${name}]` : step(name)}`, depth: depth + 1 });
  }
  return undefined;
}

/** As `textIn`, also for bytes as JSON writes a Buffer. */
function textOf(value: unknown): string | undefined {
  const isBuffer = isRecord(value) && value.type === "Buffer" && Array.isArray(value.data);
  return textIn(isBuffer ? Buffer.from(value.data as number[]) : value);
}

function isDelivery(value: unknown): boolean {
  if (!isRecord(value) || [value.id, value.key, value.body].some((each) => typeof each !== "string"))
    return false;
  try {
    parseQueued(value);
    return true;
  } catch (error) {
    return !isNoDelivery(error);
  }
}

/** Returns the fields that may hold a delivery. */
function fieldsOf(value: unknown): [name: string, value: unknown][] {
  if (typeof value !== "object" || ArrayBuffer.isView(value)) return [];
  try {
    return Object.entries(value as object).filter(([, each]) => ["string", "object"].includes(typeof each));
  } catch {
    return []; // it is null, or a getter threw
  }
}

function step(name: string): string {
  if (!PLAIN_NAME.test(name)) return "[…]";
  return name.includes("-") ? `["${name}"]` : `.${name}`;
}
