import { createHash } from "node:crypto";
import type { Endpoint } from "../../client";
import type { Recognition } from "../../shared/permanent";
import { isUrl, normalizeUrl, sameUrl } from "../../shared/url";
import type { EndpointState } from "../state";
import { PRECISION_MS, parseTimestamp, type RecordedTimes } from "./time";

/** What the state says of an endpoint, as far as it tells which one that is. */
export type Recorded = Pick<EndpointState, "url" | "type"> & Partial<EndpointState>;

/**
 * Answers: is it the same? Compares what today's service has under a recorded id with what was recorded.
 *
 * - `same`: it has the url and type of the recorded one; or it was not made later, so that somebody may have edited it.
 * - `other`: it was made later, so the service has used the id again
 * - `unknown`: it has another url or type, and nothing tells when the recorded one was made; or the id is a row's number, which a database may
 *   use again within the second that a time may be off by. It counts as gone, is left alone, and is named
 */
export function sameness(
  recorded: Recorded,
  id: string,
  listed: Pick<Endpoint, "url" | "type" | "createdAt">,
  graceMs: number,
): "same" | "other" | "unknown" {
  if (isMadeLater(listed, recorded, graceMs)) return "other";
  const { createdAt = null, registeredAt } = recorded;
  const made = parseTimestamp(listed.createdAt);
  const isEqual = isAsRecorded(recorded, listed);
  if (made === undefined || isEqual) return isEqual ? "same" : "unknown";
  const exactly = parseTimestamp(createdAt);
  if (made === exactly) return "same";
  const isRow = /^\d+$/.test(id);
  const isInTime =
    exactly !== undefined || (registeredAt !== undefined && made <= registeredAt + PRECISION_MS);
  return isInTime && !isRow ? "same" : "unknown";
}

/** Returns whether a listed endpoint was made later than a recorded one with its id: then the service has used the id again. */
export function isMadeLater(
  listed: RecordedTimes,
  { createdAt = null, registeredAt }: RecordedTimes,
  graceMs: number,
): boolean {
  const made = parseTimestamp(listed.createdAt ?? null);
  const exactly = parseTimestamp(createdAt);
  if (made === undefined) return false;
  if (exactly !== undefined) return made > exactly + PRECISION_MS;
  return registeredAt !== undefined && made > registeredAt + graceMs;
}

/** Returns whether an endpoint has the recorded type and url. */
export function isAsRecorded(
  recorded: { readonly url: string; readonly type: string; readonly storedAs?: unknown },
  { url, type }: Pick<Endpoint, "url"> & { readonly type: string },
): boolean {
  return type === recorded.type && isRecordedUrl(recorded, url);
}

/** Returns whether a url is the recorded one, as it was declared or as the service stored it. */
export function isRecordedUrl(
  { url, storedAs }: { readonly url: string; readonly storedAs?: unknown },
  other: string,
): boolean {
  return sameUrl(url, other) || (storedAs !== undefined && hashOf(other) === storedAs);
}

/** Returns what the state records of the url that the service stores: nothing, if it is the declared one. */
export function storedSpelling(declared: string, stored: string): Recognition {
  return sameUrl(declared, stored) ? {} : { storedAs: hashOf(stored) };
}

function hashOf(url: string): string {
  const text = `pulumi-webhook-endpoints\0${normalizeUrl(url)}`;
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/**
 * Returns whether a listed url may be the service's own spelling of a declared one: the path equal without its case and final slashes, the
 * query equal, absent or masked. No registration is believed to have made it: that stops, and names it. Only an `adoptId` adopts it.
 */
export function nearlySameUrl(declared: string, listed: string): boolean {
  if (sameUrl(declared, listed)) return true;
  if (!isUrl(declared) || !isUrl(listed)) return false;
  const [one, other] = [new URL(normalizeUrl(declared)), new URL(normalizeUrl(listed))];
  const pathOf = ({ pathname }: URL) => withoutFinalSlashes(pathname.toLowerCase());
  if (one.origin !== other.origin || pathOf(one) !== pathOf(other)) return false;
  return other.search === "" || isMaskedQuery([...one.searchParams], [...other.searchParams]);
}

function withoutFinalSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

const MASKED = /\*{2,}|•|…|\.{3}|^x{3,}$/i;

function isMaskedQuery(
  declared: readonly (readonly [string, string])[],
  listed: readonly (readonly [string, string])[],
): boolean {
  if (declared.length !== listed.length) return false;
  return declared.every(([name, value], at) => {
    const [otherName, other = ""] = listed[at] ?? [];
    return name === otherName && (value === other || MASKED.test(other));
  });
}
