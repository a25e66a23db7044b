import type { Attempt } from "../page";
import { isRecord, parseJson } from "../shared/json";
import { newMessageId } from "../signature/sign";
import type { EmulatedEndpointType } from "./registry";

/** Which endpoints get an event. */
export interface EventTarget {
  /** Only this endpoint. Default: every endpoint of the account. */
  readonly endpointId?: string;
  /** Only endpoints of this type. */
  readonly endpointType?: EmulatedEndpointType;
  /** Only endpoints of this account. Default: the account of `apiKey`. */
  readonly account?: string;
}

/** An event to deliver. */
export interface EmulatedEvent extends EventTarget {
  /** `job.running`, `job.succeeded`, `job.failed`, or any other string. */
  readonly event: string;
  /** Such as `{ jobId: "job_1", status: "succeeded" }`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Sent as it is in place of `{ type: event, data }`, for flat bodies and for bodies that are not JSON. */
  readonly body?: string;
  /** The `webhook-id`. Default: a new one. Reuse an id to send a duplicate. */
  readonly id?: string;
  /** Changes the body after signing, as an attacker would. Default false. */
  readonly tamper?: boolean;
  /** Dates the signature this many seconds back, as in a captured request that is sent later. Default 0. */
  readonly ageSeconds?: number;
  /** The waits between the attempts, in milliseconds. Default: the emulator's; none for a tampered or aged event. */
  readonly retryDelaysMs?: readonly number[];
}

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

/** Returns a changed body: a JSON object gets another member, because a space more would not change what it says. */
export function tampered(body: string): string {
  const parsed = parseJson(body);
  return isRecord(parsed) ? JSON.stringify({ ...parsed, tampered: newMessageId() }) : `${body} `;
}
