import { randomUUID } from "node:crypto";
import { type Endpoint, type EndpointList, WebhookEndpointNotFoundError, WebhookError } from "../../client";
import { sameUrl } from "../../shared/url";
import type { Wire } from "./wire";

/** The urls that one check registers. Each names the check, so that what a killed check left is recognized. */
export interface CheckUrls {
  readonly own: string;
  /** Not a url, so a service should reject it. */
  readonly invalid: string;
}

const INVALID = "not-a-url";
const MARK = /[?&]check=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export function urlsOf(url: string, check: string = randomUUID()): CheckUrls {
  const marked = (base: string) => `${base}${base.includes("?") ? "&" : "?"}check=${check}`;
  return { own: marked(url), invalid: marked(INVALID) };
}

/** Returns the endpoints that checks with this url have registered and not deleted. */
export function leftBy(url: string, { endpoints }: EndpointList): readonly Endpoint[] {
  return endpoints.filter((endpoint) => {
    const [, check] = MARK.exec(endpoint.url) ?? [];
    if (check === undefined || endpoint.type !== "development") return false;
    const { own, invalid } = urlsOf(url, check);
    return sameUrl(endpoint.url, own) || endpoint.url === invalid;
  });
}

interface Deletion {
  readonly wire: Wire;
  readonly urls: CheckUrls;
  /** What the service listed before the check. */
  readonly before: EndpointList;
  /** The ids that this check, or an interrupted one, has registered. */
  readonly made: ReadonlySet<string>;
  /** The urls whose registration may have worked, although it got no id. */
  readonly lost: ReadonlySet<string>;
}

/** What may still be there after a check. */
export interface Left {
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
  { wire, before }: Pick<Deletion, "wire" | "before">,
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
export async function deleteAll({ wire, urls, before, made, lost }: Deletion): Promise<Left> {
  const { client } = wire.account;
  const list = await client.list().catch(onlyWebhookError);
  const rows = list instanceof WebhookError ? [] : [...list.endpoints, ...list.unrecognized];
  const isOurs = (url: string | null) => url !== null && (sameUrl(url, urls.own) || url === urls.invalid);
  const listed = rows.filter(({ id, url }) => isOurs(url) && !isIn(before, id)).map(({ id }) => id);
  const ids: string[] = [];
  for (const id of new Set([...made, ...listed])) {
    const deleted = await client.delete(id).catch(onlyWebhookError);
    const found = await client.get(id).catch(onlyWebhookError);
    const isGone = [deleted, found].some(saysGone);
    // A service that cannot get it may have deleted it nevertheless.
    if (!isGone && !(deleted === undefined && found instanceof WebhookError)) ids.push(id);
  }
  const isUnseen = lost.size > 0 && listed.every((id) => made.has(id));
  return { isClean: ids.length === 0 && !isUnseen, ids };
}

/** A service may answer 410 where the contract asks for 404. */
function saysGone(answer: unknown): boolean {
  if (answer instanceof WebhookEndpointNotFoundError) return true;
  return answer instanceof WebhookError && answer.statusCode === 410;
}

function isIn({ endpoints, unrecognized }: EndpointList, id: string): boolean {
  return [...endpoints, ...unrecognized].some((each) => each.id === id);
}

function onlyWebhookError(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  throw error;
}
