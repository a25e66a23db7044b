import { randomUUID } from "node:crypto";
import { type EndpointList, WebhookEndpointNotFoundError, WebhookError } from "../../client";
import type { Clock } from "../../client/clock";
import { sameId } from "../../settlement/identity";
import { LAG_MS, whileNew } from "../../settlement/lag";
import { CLOCK_TOLERANCE_MS, parseTimestamp } from "../../settlement/time";
import { sameUrl } from "../../shared/url";
import { MARK } from "../inventory/inventory";
import type { Findings } from "./findings";
import type { Wire } from "./wire";

/** The urls that one check registers. Each names the check, so that what a killed check left is recognized. */
export interface CheckUrls {
  readonly own: string;
  /** Not a url, so a service should reject it. */
  readonly invalid: string;
}

const INVALID = "not-a-url";

/**
 * Returns a UUID of version 7, which begins with its time.
 * @param at the service's time, in milliseconds since 1970; null if it does not tell it
 */
export function newCheck(at: number | null): string {
  const time = Math.max(0, at ?? Date.now())
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

export function urlsOf(url: string, check: string): CheckUrls {
  const marked = (base: string) => `${base}${base.includes("?") ? "&" : "?"}check=${check}`;
  return { own: marked(url), invalid: marked(INVALID) };
}

/** The ids of the endpoints with the mark of an earlier check. */
export interface Marked {
  /** Endpoints that the check has registered and not deleted. */
  readonly left: readonly string[];
  /** What may be somebody's: the service may only have moved it to the url of the check. */
  readonly open: readonly string[];
}

/** Finds what earlier checks with this url may have left. Only an endpoint that is certainly no older than its check is theirs. */
export function markedIn({ endpoints }: EndpointList, url: string): Marked {
  const left: string[] = [];
  const open: string[] = [];
  for (const endpoint of endpoints) {
    const [, check, high, low] = MARK.exec(endpoint.url) ?? [];
    if (check === undefined || endpoint.type !== "development") continue;
    const { own, invalid } = urlsOf(url, check);
    if (!sameUrl(endpoint.url, own) && endpoint.url !== invalid) continue;
    const sinceCheckMs = parseTimestamp(endpoint.createdAt) - Number.parseInt(`${high}${low}`, 16);
    (sinceCheckMs >= -CLOCK_TOLERANCE_MS ? left : open).push(endpoint.id);
  }
  return { left, open };
}

/** What a check registers at a service. It fills the sets. */
export interface CheckEndpoints {
  readonly clock: Clock;
  readonly wire: Wire;
  readonly urls: CheckUrls;
  /** What the service listed before the check. */
  readonly before: EndpointList;
  /** The ids that this check, or an interrupted one, has registered. */
  readonly made: Set<string>;
  /** The ids that the service answered with and that may be somebody's. */
  readonly others: Set<string>;
  /** The urls whose registration may have worked, although it got no id. */
  readonly lost: Set<string>;
}

/** What a check needs while it plays the clauses. */
export interface CheckOptions extends CheckEndpoints {
  readonly findings: Findings;
  /** Ends the check between two requests. */
  readonly stopped: AbortSignal;
  readonly note: (text: string) => void;
}

/** What may still be there after a check. */
interface Left {
  readonly isClean: boolean;
  /** Those that are known. */
  readonly ids: readonly string[];
}

/**
 * Returns whether the endpoint that the service answered with is a new one. Some services keep one endpoint for each url or account, and
 * answer with that.
 */
export async function wasMade(
  id: string,
  url: string,
  { wire, before }: Pick<CheckEndpoints, "wire" | "before">,
): Promise<boolean> {
  if (isIn(before, id)) return false;
  if (before.complete) return true;
  // The list may have left it out. Somebody else's has another url.
  const shown = await wire.account.client.get(id).catch(onlyWebhookError);
  return !(shown instanceof WebhookError) && (shown.url === url || sameUrl(shown.url, url));
}

/**
 * Deletes what was made, and whatever else the list shows that this check has registered. What was there before stays, also if the
 * service has given it the check's url.
 */
export async function deleteAll({
  clock,
  wire,
  urls,
  before,
  made,
  others,
  lost,
}: CheckEndpoints): Promise<Left> {
  const { client } = wire.account;
  const list = await client.list().catch(onlyWebhookError);
  const rows = list instanceof WebhookError ? [] : [...list.endpoints, ...list.unrecognized];
  const isOurs = (url: string | null) => url !== null && (sameUrl(url, urls.own) || url === urls.invalid);
  const startedAt = before.serverTime ?? Number.NEGATIVE_INFINITY;
  const isOld = (row: object) =>
    "createdAt" in row && parseTimestamp(row.createdAt as string | null) < startedAt - CLOCK_TOLERANCE_MS;
  const listed = rows
    .filter((row) => isOurs(row.url) && !isOld(row) && !others.has(row.id) && !isIn(before, row.id))
    .map(({ id }) => id);
  const ids: string[] = [];
  const madeAt = Math.max(...wire.exchanges.map((each) => (each.method === "POST" ? each.answeredAt : 0)));
  for (const id of new Set([...made, ...listed])) {
    const attempt = () => client.delete(id).catch(onlyWebhookError);
    const forMs = madeAt + LAG_MS - clock.now();
    const deleted = await whileNew(attempt, (failure) => !isUnknown(failure), { clock, forMs });
    const found = await client.get(id).catch(onlyWebhookError);
    // A service that cannot get it may have deleted it nevertheless.
    const isDeleted = (deleted === undefined || isUnknown(deleted)) && found instanceof WebhookError;
    if (!isDeleted && !isUnknown(found)) ids.push(id);
  }
  const isUnseen = lost.size > 0 && listed.every((id) => made.has(id));
  return { isClean: ids.length === 0 && !isUnseen, ids };
}

function isIn({ endpoints, unrecognized }: EndpointList, id: string): boolean {
  return [...endpoints, ...unrecognized].some((each) => sameId(each.id, id));
}

function isUnknown(answer: unknown): boolean {
  return answer instanceof WebhookEndpointNotFoundError;
}

function onlyWebhookError(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  throw error;
}
