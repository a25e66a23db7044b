import type { ServerResponse } from "node:http";
import type { Fault } from "./fault";
import { type Answer, send, sendEmpty, sendMalformed, sendOversized, sendTruncated } from "./respond";

/** How a request is answered: by a reset, not at all, or by a function that sends the answer. */
type Manner = "reset" | "silence" | ((response: ServerResponse, answer: Answer) => unknown);

const STATUS_BODY = { error: "fault", message: "This is a fault that was planted in the emulator." };

export function takesEffect(fault: Fault | undefined): boolean {
  if (fault?.kind === "status") return fault.effect === true;
  return fault?.kind !== "reset-before" && fault?.kind !== "hang-before";
}

export function mannerOf(fault: Fault | undefined): Manner {
  switch (fault?.kind) {
    case "refuse":
    case "reset-before":
    case "reset-after":
      return "reset";
    case "hang-before":
    case "hang-after":
    case "late-commit":
      return "silence";
    case "status": {
      const { status, headers = {}, body = STATUS_BODY } = fault;
      const bodiless = status === 204 || status === 304;
      return (response) => send(response, bodiless ? { status, headers } : { status, headers, body });
    }
    case "truncated":
      return sendTruncated;
    case "malformed":
      return sendMalformed;
    case "empty":
      return sendEmpty;
    case "oversized":
      return (response, answer) => sendOversized(response, answer, fault.bytes);
    default:
      return send;
  }
}
