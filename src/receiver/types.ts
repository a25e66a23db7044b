import type { JobEvent, WebhookEvent } from "../signature/event";
import type { HeadersLike } from "../signature/headers";
import type { VerificationFailure } from "../signature/result";

/** A verified delivery, as its handler gets it. */
export interface Delivery extends WebhookEvent {
  /** The body as it was sent, byte for byte. */
  readonly rawBody: Uint8Array;
  /**
   * Fires when the handler's deadline has passed: the sender was then told to retry, so stop. A handler that looks at it and resolves
   * later may have stopped, so its delivery does not count as handled.
   */
  readonly signal: AbortSignal;
}

/** A verified delivery of an event. Without a schema for the event, nothing checks that its data has this type. */
export interface EventDelivery<Event extends string = string, Data = unknown> extends Delivery {
  readonly event: Event;
  readonly data: Data;
}

/** A verified delivery of one of the service's events, with a job id. */
export interface KeyedDelivery extends EventDelivery<JobEvent> {
  readonly jobId: string;
}

/**
 * Handles a delivery. Resolve when the work is done or safely handed on; the delivery is then complete. If it throws or rejects, or
 * returns a `Response` with a status other than 2xx, the sender gets 500 and its retry is handled again. Any other result is
 * ignored.
 */
export type Handler<D extends Delivery> = (delivery: D) => unknown;

/** No event has a type of its own. */
export type NoEvents = Record<never, never>;

/**
 * The handlers, by event: the service's own events, and those whose data the program declares a type for. Leave an event without a
 * handler out: `undefined` is refused, because a misspelt name of a function is `undefined` too.
 */
export type Handlers<Events extends object = NoEvents> = {
  readonly [Event in JobEvent | Extract<keyof Events, string>]?: Handler<
    EventDelivery<Event, Event extends keyof Events ? Events[Event] : unknown>
  >;
};

/** The part of a Standard Schema (https://standardschema.dev) that is used: of Zod, Valibot, ArkType and others. */
export interface StandardSchema<Data = unknown> {
  /** What the Standard Schema specification defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Data> | Promise<SchemaResult<Data>>;
    readonly types?: { readonly input: unknown; readonly output: Data } | undefined;
  };
}

/** What the validation of a schema returns. */
export type SchemaResult<Data> =
  | { readonly value: Data; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** What does not fit a schema. */
export interface SchemaIssue {
  /** Says what is wrong. */
  readonly message: string;
  /** Where in the data. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** By event: a schema that its data must fit, or `true` for an event that is only declared. */
export type EventSchemas<Events extends object> = {
  readonly [Name in keyof Events]?: StandardSchema<Events[Name]> | true;
};

/** A request with its whole body, as an adapter hands it over. */
export interface ReceiverRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The headers, in any case. */
  readonly headers: HeadersLike;
  /** The bytes as received, not parsed, not decoded. */
  readonly body: Uint8Array;
}

/** The response to send. */
export interface ReceiverResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. Empty for a delivery that was handled. */
  readonly body: string;
}

/** Why a request ended before there was a whole body to verify. */
export type Refusal =
  | "method" // it is not a POST
  | "size" // the body is larger than `maxBodyBytes`
  | "incomplete-body" // it did not arrive in time, or the connection ended in the middle of it
  | "parsed-body"; // something read it before the receiver could

/** Verifies requests, and calls a handler for each delivery. An adapter connects it to a server. */
export interface Receiver {
  /** A larger body is refused with `refuse("size")`, best before it is read. */
  readonly maxBodyBytes: number;
  /** Verifies, dedupes and dispatches one request. */
  handle(request: ReceiverRequest): Promise<ReceiverResponse>;
  /** Returns the response to a request that ends before `handle`, and reports it to `onRejected`, with these details. */
  refuse(reason: Refusal, details?: Pick<Rejection, "advice" | "error">): Promise<ReceiverResponse>;
}

/**
 * Creates a receiver. An adapter that gets such a function calls it at its first request, so that a build that loads the module needs no
 * secrets and connects no client. While it fails, requests get 503, and each tries again.
 */
export type LazyReceiver = () => Receiver | PromiseLike<Receiver>;

/** A request that was refused before any handler could run. Holds no secret, no header and nothing of the body. */
export interface Rejection {
  /** Why it was refused. Stable. */
  readonly reason: Refusal | VerificationFailure | "no-secrets";
  /** The HTTP status of the response. */
  readonly status: number;
  /** The id that the request claims, if it is canonical. It is not verified. */
  readonly unverifiedId?: string | undefined;
  /** What to change, if the program and not the sender is at fault. */
  readonly advice?: string | undefined;
  /** With `incomplete-body`: why the platform ended the body, such as at a limit of its own. Undefined if time ran out. */
  readonly error?: unknown;
}

/** The result of a verified delivery. Each has a response of its own. */
export type OutcomeKind =
  | "handled" // 200: a handler, or `onUnhandled`, resolved
  | "unhandled" // 200: nobody handles this event
  | "duplicate" // 200: handled before
  | "validation" // 200: a `webhook.validation`, which proves the receiver at deploy time; no handler or store is called
  | "held" // 503: another worker is handling it
  | "failed" // 500: the handler failed, or the data does not fit the schema of its event; a retry is handled again
  | "timed-out" // 503: the handler passed its deadline; a retry is handled after the lease, unless the handler finished
  | "store-unavailable" // 503: the dedupe store failed, so no handler was called
  | "queued" // 202: the queue has confirmed it, and its workers handle it
  | "queue-unavailable"; // 503: the queue failed, or did not confirm it in time

/** The result of a verified delivery. Holds no secret, and nothing of the body but event and job id. */
export interface Outcome extends Pick<Delivery, "id" | "timestamp" | "event" | "jobId"> {
  /** What became of the delivery. */
  readonly outcome: OutcomeKind;
  /** The HTTP status of the response. */
  readonly status: number;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /**
   * The error that the handler, the dedupe store, the schema or the queue threw. With `handled`: the store did not record the delivery
   * (yet), so that a retry of it may be handled again.
   */
  readonly error?: unknown;
}

/** The result of a delivery in a worker. `not-a-delivery`: the worker cannot read what the queue holds; the error says why. */
export interface WorkerOutcome extends Pick<Outcome, "event" | "jobId" | "durationMs" | "error"> {
  /** What became of the delivery. */
  readonly outcome: Exclude<OutcomeKind, "validation" | "queued" | "queue-unavailable"> | "not-a-delivery";
  /** Undefined if the job could not be read. */
  readonly id: string | undefined;
  /** When it was sent, in unix seconds. */
  readonly timestamp: number | undefined;
}

/** One or more `whsec_…`, any of which may have signed. */
export type Secrets = string | readonly string[];
