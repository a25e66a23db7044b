import type { SignedHeaders } from "../../signature";
import type { EmulatedEndpointType } from "../endpoint";

export interface EventTarget {
  /** Only this endpoint. Default: every endpoint of the account. */
  readonly endpointId?: string;
  /** Only endpoints of this type. */
  readonly endpointType?: EmulatedEndpointType;
  /** Default: the account of `apiKey`. */
  readonly account?: string;
}

/** An event to deliver. */
export interface EmulatedEvent extends EventTarget {
  /** `job.running`, `job.succeeded`, `job.failed`, or any other, for receivers that must bear one. */
  readonly type: string;
  /** Such as `{ jobId: "job_1", status: "succeeded" }`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Sent as it stands in place of `{ type, data }`: for flat bodies, and for bodies that are no JSON. */
  readonly body?: string;
  /** The `webhook-id`. Default: a new one; give it twice to send a duplicate. */
  readonly id?: string;
  /** Changes the body after it was signed, as an attacker would. Default false. */
  readonly tamper?: boolean;
  /** Signs as of so many seconds ago: what a request that was captured and kept looks like. Default 0. */
  readonly ageSeconds?: number;
  /** In place of the emulator's own; none for a tampered or aged one. */
  readonly retryDelaysMs?: readonly number[];
}

export type DeliveryOutcome = "delivered" | "failed" | "endpoint-gone" | "closed";

/** What became of an event at one endpoint. */
export interface EndpointDelivery {
  readonly endpointId: string;
  /** The `webhook-id` of each attempt. */
  readonly id: string;
  /**
   * `failed` when the last retry failed, `endpoint-gone` when the endpoint was deleted meanwhile, `closed` when the
   * emulator was.
   */
  readonly outcome: DeliveryOutcome;
  readonly attempts: number;
  /** Of the last attempt; null when nothing was answered. */
  readonly statusCode: number | null;
}

/** What became of an event. */
export interface Delivery {
  readonly id: string;
  readonly type: string;
  /** Whether every endpoint took it; false also where no endpoint matched. */
  readonly delivered: boolean;
  readonly endpoints: readonly EndpointDelivery[];
}

/** One request to a receiver. */
export interface LoggedAttempt {
  /** When it was sent: milliseconds since 1970, by the emulator's clock. */
  readonly at: number;
  readonly id: string;
  readonly type: string;
  readonly endpointId: string;
  readonly url: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Null when nothing was answered. */
  readonly statusCode: number | null;
  /** Why nothing was answered: a code of Node's, such as `ECONNREFUSED` or `ETIMEDOUT`; else null. */
  readonly error: string | null;
  /** When the next attempt follows; null when this was the last. */
  readonly retryInMs: number | null;
  readonly tampered: boolean;
  readonly replayed: boolean;
  readonly headers: SignedHeaders;
  readonly body: string;
}
