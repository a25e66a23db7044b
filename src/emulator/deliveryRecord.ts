import type { Attempt } from "../page";

/** The result of an event at one endpoint. */
export interface EndpointDelivery {
  /** The id of the endpoint. */
  readonly endpointId: string;
  /** `failed` after the last retry, or when the endpoint or the emulator went first. */
  readonly outcome: "delivered" | "failed";
  /** How many attempts there were. */
  readonly attempts: number;
  /** The status of the last attempt. Null when it got no response. */
  readonly status: number | null;
}

/** The result of an event. */
export interface DeliveryRecord {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The event's name, such as `job.succeeded`. */
  readonly event: string;
  /** True when every endpoint accepted the event. False when no endpoint matched. */
  readonly delivered: boolean;
  /** The delivery to each endpoint. */
  readonly endpoints: readonly EndpointDelivery[];
}

/** An attempt as it was sent, with or without a result. */
export interface OpenAttempt extends Attempt {
  /** True if the body was changed after signing. */
  readonly tampered: boolean;
  /** Whether `replay()` sent it, not a retry. */
  readonly replayed: boolean;
  /** The headers that were sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, as it was sent. */
  readonly body: string;
}

/** One request to a receiver. */
export interface LoggedAttempt extends OpenAttempt {
  /** Null when there was no response. */
  readonly status: number | null;
  /** Why there was no response, or why its body broke off: a code such as `ECONNREFUSED`, or `timed out`. Otherwise null. */
  readonly error: string | null;
  /** The first 1,024 bytes of the response's body. */
  readonly response: string;
  /** From the request's start to the end of the response, in milliseconds. */
  readonly durationMs: number;
  /** The wait until the next attempt. Null when this was the last. */
  readonly retryInMs: number | null;
}
