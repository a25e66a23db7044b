import type { HeadersLike } from "../signature/headers";
import type { VerificationFailure } from "../signature/result";

/** The events of the service. */
export type JobEvent = "job.running" | "job.succeeded" | "job.failed";

/** A verified delivery: its signature matched and its timestamp was inside the tolerance. */
export interface Delivery {
  /** `webhook-id`: the same in each retry of this delivery. */
  readonly id: string;
  /** When it was sent, in unix seconds. */
  readonly timestamp: number;
  /** The event's name; undefined when the body names none. */
  readonly event: string | undefined;
  /** The job's id; undefined when the body names none. */
  readonly jobId: string | undefined;
  /** What the event tells: the body's `data`, or the whole body where it has none; undefined when the body is not JSON. */
  readonly data: unknown;
  /** The body as it was sent, byte for byte. */
  readonly rawBody: Uint8Array;
  /** Fires when the handler's deadline has passed: the sender was then told to come again, so stop. */
  readonly signal: AbortSignal;
}

/** A verified delivery of one of the service's events. */
export interface JobDelivery<Event extends JobEvent = JobEvent> extends Delivery {
  readonly event: Event;
  readonly jobId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Handles a delivery. Resolve when the work is done or safely handed on; the delivery is then complete. Reject, and the sender is
 * answered 500 and its retry is handled anew.
 */
export type Handler<D extends Delivery> = (delivery: D) => unknown;

export type Handlers = { readonly [Event in JobEvent]?: Handler<JobDelivery<Event>> | undefined };

/** A request with its whole body, as an adapter hands it over. */
export interface ReceiverRequest {
  readonly method: string;
  readonly headers: HeadersLike;
  /** The bytes as received, not parsed, not decoded. */
  readonly body: Uint8Array;
}

/** What to send back. */
export interface ReceiverResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Why a request ended before there was a whole body to verify.
 *
 * - `method`: it is no POST
 * - `size`: the body is larger than `maxBodyBytes`
 * - `timeout`: the body did not arrive in time
 * - `aborted`: the connection ended in the middle of the body
 * - `parsed-body`: something read the body before the receiver could
 */
export type Refusal = "method" | "size" | "timeout" | "aborted" | "parsed-body";

export interface Receiver {
  /** A body larger than this is refused with `refuse("size")`, best before it was read. */
  readonly maxBodyBytes: number;
  /** Verifies, dedupes and dispatches one request. Never rejects. */
  handle(request: ReceiverRequest): Promise<ReceiverResponse>;
  /**
   * The answer to a request that ends before `handle`; reported to `onRejected`. Never rejects.
   * @param advice for the developer who must mend it, such as which middleware to move
   */
  refuse(reason: Refusal, advice?: string): Promise<ReceiverResponse>;
}

/** A request that was refused before any handler could run. Holds no secret, no header and nothing of the body. */
export interface Rejection {
  readonly reason: Refusal | VerificationFailure | "no-secrets";
  /** The HTTP status that was answered. */
  readonly status: number;
  /** What the request claims as its id, where it is canonical. Nothing vouches for it. */
  readonly unverifiedId?: string;
  /** What to change, where the program and not the sender is at fault. */
  readonly advice?: string;
}

/**
 * What became of a verified delivery.
 *
 * - `handled`: a handler, or `onUnhandled`, resolved
 * - `unhandled`: nobody handles this event; acknowledged
 * - `duplicate`: handled before; acknowledged
 * - `held`: another worker is at it
 * - `failed`: the handler rejected; a retry is handled anew
 * - `timed-out`: the handler passed its deadline; a retry is handled once the lease has ended, unless the handler was done by then
 * - `store-unavailable`: the dedupe store could not be asked, so no handler was called
 */
export type OutcomeKind =
  | "handled"
  | "unhandled"
  | "duplicate"
  | "held"
  | "failed"
  | "timed-out"
  | "store-unavailable";

/** What became of a verified delivery. Holds no secret and nothing of the body but event and job id. */
export interface Outcome {
  readonly outcome: OutcomeKind;
  /** The HTTP status that was answered. */
  readonly status: number;
  readonly id: string;
  readonly timestamp: number;
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  readonly durationMs: number;
  /** What the handler or the dedupe store threw. */
  readonly error?: unknown;
}

/** One or several `whsec_…`, any of which may have signed. */
export type Secrets = string | readonly string[];
