import type { Endpoint, EndpointList } from "../client";
import { EndpointError } from "./errors";
import { alike, type Identity } from "./likeness";
import { momentOf } from "./moment";
import type { PendingRegistration } from "./types";
import { describeUrl } from "./url";

/** How much earlier than our attempt an endpoint may be dated and still be ours, in milliseconds. */
const clockToleranceMs = 5_000;
/** The service's clock tells whole seconds. */
const clockResolutionMs = 1_000;

/** The endpoint that a registration made, if the list holds it: the oldest that can be no other's. */
export function recognise(
  list: EndpointList,
  identity: Identity,
  { before, attemptedAt, complete }: PendingRegistration,
  taken: ReadonlySet<string>,
): Endpoint | undefined {
  const candidates = alike(list, identity).filter(({ id, createdAt }) => {
    if (taken.has(id) || before.includes(id)) return false;
    const moment = momentOf(createdAt);
    // Without times that can be read and compared, only a whole baseline tells what is new.
    if (Number.isNaN(moment) || attemptedAt === null) return complete;
    return moment >= attemptedAt - clockToleranceMs;
  });
  return candidates.toSorted((a, b) => (momentOf(a.createdAt) || 0) - (momentOf(b.createdAt) || 0))[0];
}

/** @throws EndpointError for a list that is no evidence of absence */
export function assertWhole({ complete }: EndpointList, { url }: Identity): void {
  if (complete) return;
  throw new EndpointError(
    "STILL_PENDING",
    `cannot tell whether the registration of ${describeUrl(url)} was made: the service lists only a part of its endpoints. ` +
      "It stays pending. Look for it at the service: set adoptId to its id, or, if it is not there, run `pulumi state " +
      "delete` for this resource.",
  );
}

/**
 * How long a pending registration is still to be looked for, where it counts as never made when it is `patienceMs` old: no
 * longer than for one that was sent just now, because the service's clock may have been put back.
 */
export function patienceLeft(
  { attemptedAt }: PendingRegistration,
  { serverTime }: EndpointList,
  patienceMs: number,
): number {
  if (attemptedAt === null || serverTime === null) return 0;
  return Math.min(attemptedAt - serverTime, 0) + patienceMs;
}

/** Whether it was made before an equal one may have been registered in its stead, by another process even. */
export function isMadeInTime(
  { createdAt }: Endpoint,
  { attemptedAt }: PendingRegistration,
  patienceMs: number,
): boolean {
  return attemptedAt === null || !(momentOf(createdAt) >= attemptedAt + patienceMs - clockResolutionMs);
}
