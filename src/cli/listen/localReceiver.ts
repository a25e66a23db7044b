import type { Receiver, ReceiverRequest, ReceiverResponse, Refusal, Rejection } from "../../receiver";
import { refusalAnswer } from "../../receiver/answers";
import { readEvent } from "../../receiver/event";
import { createVerifier } from "../../signature";
import { claimedId } from "../../signature/headers";
import { type Forwarded, forward, type Target } from "./forward";

/** A verified delivery, and what became of it. */
export interface Received {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  /** The answer to the sender. */
  readonly status: number;
  /** Absent without a target. */
  readonly forwarded?: Omit<Forwarded, "response">;
}

/** Why this receiver alone refuses a verified delivery. */
type LocalRefusal = "busy";

/** A request that was refused. */
export interface Refused {
  readonly reason: Rejection["reason"] | LocalRefusal;
  readonly status: number;
  /** The id that the request claims. It is not verified. */
  readonly unverifiedId?: string;
}

interface LocalReceiverOptions {
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  /** Where verified deliveries go. Without it, each is answered with 200. */
  readonly target: Target | undefined;
  /** The events that are reported and forwarded. Any other is answered with 200. Undefined for all. */
  readonly events: ReadonlySet<string> | undefined;
  readonly onReceived: (received: Received, request: ReceiverRequest, answer: ReceiverResponse) => void;
  /** Without the request, if its body was not read. */
  readonly onRefused: (refused: Refused, request?: ReceiverRequest) => void;
}

/** The largest body that is read, in bytes: that of a receiver. */
const LARGEST_BODY_BYTES = 1024 * 1024;
/** How many deliveries are forwarded at once. The sender of any more has to retry. */
const MOST_FORWARDED = 64;
const ACCEPTED: ReceiverResponse = { status: 200, headers: {}, body: "" };
const BUSY: ReceiverResponse = {
  status: 503,
  headers: { "content-type": "text/plain; charset=utf-8", "retry-after": "1" },
  body: "busy",
};

/** Creates a receiver that verifies deliveries, reports them and forwards them. It remembers none: the target dedupes. */
export function localReceiver(options: LocalReceiverOptions): Receiver {
  const { secrets, toleranceSeconds, target, events, onReceived, onRefused } = options;
  const verifier = createVerifier({ secrets, toleranceSeconds });
  let forwarding = 0;

  return {
    maxBodyBytes: LARGEST_BODY_BYTES,

    async handle(request) {
      const result = verifier.verifyDetailed(request.body, request.headers);
      if (!result.ok) {
        const answer = refusalAnswer("unverified");
        const unverifiedId = claimedId(request.headers);
        const refused = { reason: result.reason, status: answer.status };
        onRefused(unverifiedId === undefined ? refused : { ...refused, unverifiedId }, request);
        return answer;
      }
      const { id, timestamp } = result;
      const { event, jobId } = readEvent(request.body);
      if (events !== undefined && !events.has(event ?? "")) return ACCEPTED;
      if (forwarding >= MOST_FORWARDED) {
        onRefused({ reason: "busy", status: BUSY.status, unverifiedId: id }, request);
        return BUSY;
      }
      const delivery = { id, timestamp, event, jobId };
      if (target === undefined) {
        onReceived({ ...delivery, status: ACCEPTED.status }, request, ACCEPTED);
        return ACCEPTED;
      }
      forwarding += 1;
      const { response, ...forwarded } = await forward(request, target).finally(() => {
        forwarding -= 1;
      });
      onReceived({ ...delivery, status: response.status, forwarded }, request, response);
      return response;
    },

    async refuse(reason: Refusal) {
      const answer = refusalAnswer(reason);
      onRefused({ reason, status: answer.status });
      return answer;
    },
  };
}
