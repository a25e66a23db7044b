import { dedupeStoreTests } from "../../examples/dedupe-store/tests";
import {
  createReceiver,
  type DedupeStore,
  type Outcome,
  type OutcomeKind,
  type ReceiverOptions,
  type Rejection,
} from "../../src/receiver";
import { sign } from "../../src/signature";

export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

export interface DeliveryOptions {
  readonly id?: string;
  readonly body?: unknown;
  readonly secret?: string;
  /** Unix milliseconds. */
  readonly at?: number;
}

let ids = 0;

/** Makes a signed request, as an adapter hands it over. A body that is neither a string nor bytes is sent as JSON. */
export function delivered({
  id = `msg_${++ids}`,
  body = jobSucceeded("job_1"),
  secret: key = secret,
  at = Date.now(),
}: DeliveryOptions = {}) {
  const bytes = Buffer.from(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  const headers = sign({ id, timestamp: Math.floor(at / 1000), body: bytes, secret: key });
  return { method: "POST", headers, body: bytes };
}

export function jobSucceeded(jobId: string) {
  return { type: "job.succeeded", data: { jobId, status: "succeeded" } };
}

/** Makes a receiver, and keeps what its hooks are called with. */
export function receiverOf(options: Partial<ReceiverOptions> = {}) {
  const rejections: Rejection[] = [];
  const outcomes: Outcome[] = [];
  const receiver = createReceiver({
    secrets: secret,
    handlers: { "job.succeeded": () => {} },
    onRejected: (rejection) => rejections.push(rejection),
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  });
  /** Gives the receiver a request that passes verification, and returns the delivery's outcome. */
  async function outcomeOf(request = delivered()): Promise<OutcomeKind | undefined> {
    const before = outcomes.length;
    await receiver.handle(request);
    return outcomes.slice(before).find(({ id }) => id === request.headers["webhook-id"])?.outcome;
  }
  return { receiver, rejections, outcomes, outcomeOf };
}

/** Returns which of the tests that authors of a store copy it fails, and why. */
export async function brokenRules(store: DedupeStore, other = store): Promise<string[]> {
  const rules = Object.entries(dedupeStoreTests);
  const proven = await Promise.allSettled(rules.map(([, prove]) => prove(store, other)));
  return proven.flatMap((each, at) =>
    each.status === "rejected" ? `${rules[at]?.[0]}: ${each.reason}` : [],
  );
}

/** Makes a clock that stands still until it is moved. */
export function clock(time = 1_700_000_000_000) {
  return {
    now: () => time,
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

/** Makes a promise and the functions that settle it. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
