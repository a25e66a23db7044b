import { outcomeAnswer } from "../answers";
import { checkFunctions, checkNumber, checkOptions } from "../checks";
import { LONGEST_TIMER_MS } from "../deadline";
import type { Receiver, ReceiverResponse } from "../types";

const DEFAULT_BODY_TIMEOUT_MS = 10_000;

export interface BodyTimeoutOptions {
  /** How long a body may take to arrive, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** Refuses anything but a receiver, such as a promise of one: each delivery would be answered 500. @throws TypeError */
export function checkReceiver(adapter: string, receiver: Receiver): void {
  const advice = "Pass what createReceiver returns.";
  checkFunctions(`${adapter}: the receiver`, receiver, { functions: ["handle", "refuse"], advice });
}

/** Returns the timeout of an adapter. @throws TypeError for an unknown option; RangeError */
export function bodyTimeoutOf(adapter: string, options: BodyTimeoutOptions): number {
  checkOptions(adapter, options, ["bodyTimeoutMs"]);
  const { bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS } = options;
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
