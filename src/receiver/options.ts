import type { DedupeStore } from "./dedupe/store";
import type { DeliveryQueue } from "./queues/queue";
import type {
  Delivery,
  EventSchemas,
  Handler,
  Handlers,
  KeyedDelivery,
  NoEvents,
  Outcome,
  Rejection,
  Secrets,
} from "./types";

/** The options of what handles deliveries: a receiver, or a queue's worker. */
export interface HandlingOptions<Events extends object = NoEvents> {
  /** A function for each event. */
  readonly handlers: Handlers<Events>;
  /**
   * By event: a schema that its data must fit, of any library that implements Standard Schema, such as Zod, Valibot or ArkType. The
   * handler gets the data as the schema returns it. Data that does not fit has the outcome `failed`. An event of the service's own
   * needs none. Any other event must stand here before it can have a handler: with `true` for an event without a schema.
   */
  readonly events?: EventSchemas<Events> | undefined;
  /** Handles every other delivery: other events, bodies that are not JSON, events without a handler. Default: acknowledge. */
  readonly onUnhandled?: Handler<Delivery> | undefined;
  /**
   * Where handled deliveries are remembered. Default in a receiver: `memoryDedupe()`, for one process. Default in a queue's worker:
   * nowhere, as BullMQ and pg-boss take each delivery once. With SQS, Kafka and other queues whose memory is shorter than three days,
   * pass a store that all workers share, such as `redisDedupe`.
   */
  readonly dedupe?: DedupeStore | undefined;
  /**
   * How long a handler may take, in milliseconds, default 15,000. Then its delivery's signal fires, and the sender or the queue is told
   * to retry. Stay below the time that it waits, such as the visibility timeout of SQS.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * How long a handler that hangs keeps its delivery, in milliseconds from the claim on. It must be longer than the handler's
   * deadline and the time that the store takes to claim together, or a retry may be handled at the same time. Default: the deadline
   * and 10,000 more.
   */
  readonly leaseMs?: number | undefined;
}

/** The same before they are checked. */
export type Handling<Events extends object> = {
  readonly [Name in keyof HandlingOptions]?: HandlingOptions<Events>[Name] | undefined;
};

/** The options of a receiver with handlers, and of one with a queue. */
interface CommonOptions {
  /**
   * `whsec_…`, or several while a secret is rotated: any of them may have signed. Or a function that returns them, so that a
   * rotation needs no restart: it is called at the first delivery, when its last result is a minute old, and on a signature that
   * does not match when the last call is five seconds old. When it fails, or takes longer than five seconds, its last good result
   * stays in use and `onSecretsError` is called; until it has given one, deliveries get 503.
   */
  readonly secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /**
   * How old, and how far ahead, a delivery's timestamp may be: whole seconds, default 300, at most 86,400 (a day). 0 turns this
   * window off.
   */
  readonly toleranceSeconds?: number | undefined;
  /** The largest body that is read, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Returns what identifies an event: a non-empty string. Default: the id of its delivery. It is called for the service's own events
   * that have a job id. While an endpoint is replaced, the old and the new one each deliver an event, under ids of their own; a key
   * made of what they deliver takes both for one:
   *
   * ```ts
   * dedupeKey: ({ rawBody }) => createHash("sha256").update(rawBody).digest("hex"),
   * ```
   *
   * A later event with the same key is not handled for three days, so the key must differ between any two events. The hash of the
   * body does so if the bodies of a job that runs again differ, for example by a time. If in doubt, leave `dedupeKey` out.
   */
  readonly dedupeKey?: ((delivery: KeyedDelivery) => string) | undefined;
  /**
   * The clock that timestamps are compared with, in unix milliseconds. Default: `Date.now`. Without a finite number from it,
   * deliveries get 503. (Leases follow the dedupe store's clock.)
   */
  readonly now?: (() => number) | undefined;
  /**
   * Called with each request that was refused before any handler could run. Default: `console.error`, once a minute for each reason. As the
   * other hooks, it receives no secret, header or body, and errors that it throws are ignored.
   */
  readonly onRejected?: ((rejection: Rejection) => unknown) | undefined;
  /** Called with the result of each verified delivery. Default: failures go to `console.error`. */
  readonly onOutcome?: ((outcome: Outcome) => unknown) | undefined;
  /** Called when the secrets could not be read again. Default: `console.error`. */
  readonly onSecretsError?: ((error: unknown) => unknown) | undefined;
}

/** The options of a receiver that handles each delivery itself, before it responds. */
export interface ReceiverOptions<Events extends object = NoEvents>
  extends CommonOptions,
    HandlingOptions<Events> {
  /** Not together with `handlers`. */
  readonly queue?: undefined;
}

/**
 * The options of a receiver that hands each delivery to a queue. What handles it, and remembers that it did, are options of
 * `queueWorker`.
 */
export interface QueueReceiverOptions extends CommonOptions {
  /**
   * Takes each verified delivery, in place of `handlers`. The sender gets 202 once the queue has confirmed it, and 503 if the
   * queue fails. See `pulumi-webhook-endpoints/receiver/queues`.
   */
  readonly queue: DeliveryQueue;
  /** Not together with `queue`. */
  readonly handlers?: undefined;
  /** How long the queue may take to confirm a delivery, in milliseconds, default 15,000. Then the sender gets 503. */
  readonly handlerTimeoutMs?: number | undefined;
}
