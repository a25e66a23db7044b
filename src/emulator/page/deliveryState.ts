import { isRefusal, isSuccess } from "../../shared/isSuccess";
import { bytesOf } from "./capture";
import type { DeliveryHistory } from "./history";
import { visible } from "./html";
import type { Tone } from "./parts";
import type { ShownAttempt } from "./source";
import type { Filter } from "./view";

/** The states of a delivery, each with its tone. */
export const STATES = {
  sending: "busy",
  retrying: "busy",
  delivered: "good",
  failed: "bad",
  "endpoint deleted": "bad",
  "forgery refused": "good",
  "forgery accepted": "bad",
} as const satisfies Readonly<Record<string, Tone>>;

type DeliveryState = keyof typeof STATES;

/** The answers to the last attempt that a filter can select. */
export const ANSWERS: readonly string[] = ["2xx", "3xx", "4xx", "5xx", "no answer"];

/** Returns the state of a delivery. Replays and forgeries count only if there is nothing else. */
export function stateOf(
  { attempts }: DeliveryHistory,
  endpoints: ReadonlyMap<string, unknown>,
): DeliveryState {
  if (attempts.some(isOpen)) return "sending";
  const genuine = attempts.filter(isGenuine);
  if (genuine.some(isAccepted)) return "delivered";
  const last = genuine.at(-1) ?? attempts.at(-1) ?? attempts[0];
  if (isAccepted(last)) return last.tampered ? "forgery accepted" : "delivered";
  // No answer, or one from a wrong path or of a server that failed, is no sign that the receiver verifies.
  if (last.tampered) return isRefusal(last.statusCode) ? "forgery refused" : "failed";
  if (last.retryInMs == null) return "failed";
  return endpoints.has(last.endpointId) ? "retrying" : "endpoint deleted";
}

export function matches(
  delivery: DeliveryHistory,
  filter: Filter,
  endpoints: ReadonlyMap<string, unknown>,
): boolean {
  const { event, status, endpoint, text } = filter;
  const [first] = delivery.attempts;
  // The choices of the page show invisible characters, because a form would lose some.
  if (event !== "" && visible(first.type) !== visible(event)) return false;
  if (endpoint !== "" && first.endpointId !== endpoint) return false;
  if (ANSWERS.includes(status)) {
    if (classOf(delivery.attempts.at(-1) ?? first) !== status) return false;
  } else if (status !== "" && stateOf(delivery, endpoints) !== status) return false;
  const wanted = text.trim().toLowerCase();
  return wanted === "" || delivery.attempts.some((attempt) => contains(attempt, wanted));
}

function contains(attempt: ShownAttempt, wanted: string): boolean {
  const { id, endpointId, type, url, body, answer, statusCode, error } = attempt;
  const content = typeof body === "string" ? body : bytesOf(attempt).toString("utf8");
  return [id, endpointId, type, url, content, answer, error, String(statusCode ?? "")].some((value) =>
    value?.toLowerCase().includes(wanted),
  );
}

function classOf(attempt: ShownAttempt): string | undefined {
  if (isOpen(attempt)) return undefined;
  return attempt.statusCode == null ? "no answer" : `${Math.floor(attempt.statusCode / 100)}xx`;
}

export function isGenuine({ replayed, tampered }: ShownAttempt): boolean {
  return !replayed && !tampered;
}

export function isOpen({ statusCode }: ShownAttempt): boolean {
  return statusCode === undefined;
}

export function isAccepted({ statusCode }: ShownAttempt): boolean {
  return isSuccess(statusCode);
}
