import { createReceiver, type Outcome, type ReceiverOptions, type Rejection } from "../../src/receiver";
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

/** A signed request, as an adapter would hand it over. A body that is neither text nor bytes is sent as JSON. */
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

/** A receiver that keeps what its hooks are told. */
export function receiverOf(options: Partial<ReceiverOptions> = {}) {
  const rejections: Rejection[] = [];
  const outcomes: Outcome[] = [];
  const receiver = createReceiver({
    secrets: secret,
    handlers: {},
    onRejected: (rejection) => rejections.push(rejection),
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  });
  return { receiver, rejections, outcomes };
}

/** A clock that stands until it is moved. */
export function clock(time = 1_700_000_000_000) {
  return {
    now: () => time,
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

/** A promise and the means to settle it. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
