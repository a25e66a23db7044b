import { type Endpoint, type EndpointList, WebhookError } from "../client";
import { type Clock, sleep } from "../client/clock";
import type { Decision } from "./decide";

/** The pauses between two lists, in milliseconds: each is twice as long as the one before. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

export interface Waiting {
  readonly clock: Clock;
  /** Ends every wait. */
  readonly cancelled: AbortSignal | undefined;
}

/** What looking for endpoints needs of a client. */
export interface Lookup {
  list(): Promise<EndpointList>;
  /** Undefined if the service has none with this id. */
  find(id: string): Promise<Endpoint | undefined>;
}

/** How looking for an endpoint ended. After `cancelled` nothing is known. */
export type Outcome = Decision | { readonly kind: "cancelled" };

/**
 * Lists until it is known what became of pending registrations: the only wait for that. What was still to wait for at the end of
 * the wait counts as absent. Until then a list that fails is skipped.
 *
 * @param decide gets each list
 * @param forMs how long to look at least; default: as long as the first decision says
 * @param onWait told once how long it may take, in milliseconds
 * @throws WebhookError when the first or the last list fails
 */
export async function settle(
  list: () => Promise<EndpointList>,
  decide: (list: EndpointList) => Decision | Promise<Decision>,
  { clock, cancelled, forMs, onWait }: Waiting & { forMs?: number; onWait?: (milliseconds: number) => void },
): Promise<Outcome> {
  const startedAt = clock.now();
  let untilMs = forMs;
  const leftMs = () => Math.max(startedAt + (untilMs ?? 0) - clock.now(), 0);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const decision = await decide(await list());
      if (decision.kind === "found" || decision.kind === "doubt") return decision;
      if (untilMs === undefined && decision.kind === "wait") {
        untilMs = decision.milliseconds;
        onWait?.(untilMs);
      }
      if (leftMs() === 0) return decision.kind === "wait" ? { kind: "absent" } : decision;
    } catch (error) {
      if (!(error instanceof WebhookError) || leftMs() === 0) throw error;
    }
    if ((await sleep(Math.min(pauseMs, leftMs()), { clock, signal: cancelled })) === "aborted")
      return { kind: "cancelled" };
  }
}

/** Lists, and asks for what the list may not show yet. */
export async function listWith({ list, find }: Lookup, ids: readonly string[]): Promise<EndpointList> {
  const listed = await list();
  const missing = ids.filter((id) => !listed.endpoints.some((endpoint) => endpoint.id === id));
  const found = await Promise.all(missing.map(find));
  return {
    ...listed,
    endpoints: [...listed.endpoints, ...found.filter((endpoint) => endpoint !== undefined)],
  };
}
