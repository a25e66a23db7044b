import type { Endpoint, EndpointList, WebhookError } from "../../../client";
import { isInWindow, LEAST_GRACE_MS, parseTimestamp } from "../../../provider/facts/time";
import { normalizeUrl } from "../../../shared/url";
import type { ClauseId, Verdict } from "./clauses";

/** What a request led to. */
export interface Outcome<T> {
  readonly value?: T | undefined;
  readonly error?: WebhookError;
  readonly cameBack: string;
}

/** Compares the type in a response to what was sent. */
export function typeVerdict(clause: ClauseId, { value, cameBack }: Outcome<Endpoint>): Verdict {
  const isSame = value?.type === "development";
  return [clause, isSame, value && !isSame ? "2xx with another type than was sent" : cameBack];
}

export function timestampVerdict({ createdAt }: Endpoint, before: EndpointList): Verdict {
  const { serverTime } = before;
  const made = parseTimestamp(createdAt) ?? Number.NaN;
  const isInTime = serverTime === null ? undefined : isInWindow(made, serverTime, LEAST_GRACE_MS);
  const cameBack = `createdAt is ${JSON.stringify(createdAt)}, and Date was ${dateOf(before)}`;
  return ["timestamps", isInTime, cameBack];
}

export function dateOf({ serverTime }: EndpointList): string {
  return serverTime === null ? "missing" : new Date(serverTime).toUTCString();
}

/** A url that was sent, and the endpoint that the service registered with it. */
export interface RegisteredUrl extends Outcome<Endpoint> {
  readonly sent: string;
  /** The user's own url, with which the sent one begins. No message shows it: its path may hold a token. */
  readonly ownUrl: string;
}

/** Compares the urls in responses to what was sent. The first one has in it what some services change. */
export function spellingVerdict(registered: readonly RegisteredUrl[]): Verdict {
  for (const { sent, ownUrl, value } of registered) {
    const [own, was, is] = [normalizeUrl(ownUrl), normalizeUrl(sent), normalizeUrl(value?.url ?? sent)];
    if (was === is) continue;
    const [ended, ends] = [was, is].map((url) => JSON.stringify(url.slice(own.length)));
    const changed =
      ended === ends
        ? "a url came back with another path"
        : `a url that ended with ${ended} came back with ${ends}`;
    return ["spelling", false, changed];
  }
  const [first] = registered;
  return ["spelling", first?.value && true, first?.cameBack ?? ""];
}
