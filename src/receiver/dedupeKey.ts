import { isJobDelivery } from "./event";
import type { Delivery, KeyedDelivery } from "./types";

export type DedupeKey = (delivery: KeyedDelivery) => string;

/** Returns what identifies a delivery: what `dedupeKey` makes of it or, without one, its id. @throws if `dedupeKey` does */
export function keyOf(delivery: Delivery, dedupeKey: DedupeKey | undefined): string {
  if (!dedupeKey || !isKeyed(delivery)) return delivery.id;
  const key: unknown = dedupeKey(delivery);
  if (typeof key === "string" && key !== "") return key;
  throw new TypeError(
    "dedupeKey must return a non-empty string. Return delivery.id if nothing better identifies the event.",
  );
}

function isKeyed(delivery: Delivery): delivery is KeyedDelivery {
  return isJobDelivery(delivery) && delivery.jobId !== undefined;
}
