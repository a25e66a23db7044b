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

/** Returns a changed body: a JSON object gets another member, because a space more would not change what it says. */
export function tampered(body: string): string {
  const parsed = parseJson(body);
  return isRecord(parsed) ? JSON.stringify({ ...parsed, tampered: newMessageId() }) : `${body} `;
}
