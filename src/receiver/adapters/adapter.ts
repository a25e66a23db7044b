import { outcomeAnswer } from "../answers";
import { checkNumber } from "../checks";
import { LONGEST_TIMER_MS } from "../deadline";
import type { ReceiverResponse } from "../types";

const DEFAULT_BODY_TIMEOUT_MS = 10_000;

export interface BodyTimeoutOptions {
  /** How long a body may take to arrive, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** Returns the timeout of an adapter. @throws RangeError */
export function bodyTimeoutOf(
  adapter: string,
  { bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS }: BodyTimeoutOptions,
): number {
  checkNumber(`${adapter}: bodyTimeoutMs`, bodyTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return bodyTimeoutMs;
}

/** Returns the answer, or 500 if there is none because a part of the receiver threw, such as its clock. Never rejects. */
export async function guarded(
  adapter: string,
  answering: Promise<ReceiverResponse>,
): Promise<ReceiverResponse> {
  try {
    return await answering;
  } catch (error) {
    console.error(`${adapter}: the receiver failed, so the request was answered 500.`, error);
    return outcomeAnswer("failed");
  }
}
