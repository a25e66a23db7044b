import type { Pending } from "./decide";
import { type Deployment, endpointsIn, type Resource } from "./deployment";
import { isProvisional } from "./identity";
import { windowOf } from "./time";

/** A pending registration as the state holds it, under a provisional id. */
export interface HandedOver {
  /** Its provisional id. */
  readonly id: string;
  readonly before: readonly string[];
  readonly complete: boolean;
  /** In milliseconds on the service's clock; null if unknown. */
  readonly attemptedAt: number | null;
}

/** Returns what the state tells of a pending registration. */
export function pendingOf({ attemptedAt, before, complete }: HandedOver, patienceMs: number): Pending {
  return { window: windowOf(attemptedAt, patienceMs), before, complete, sameIp: true };
}

/** Returns the resources of a state whose registration is pending. */
export function pendingResources(deployment: Deployment): Resource[] {
  return endpointsIn(deployment).filter(({ id }) => id !== undefined && isProvisional(id));
}

/** Returns the pending registration of a resource. What an edited state lacks is unknown. */
export function handedOverOf({ id = "", outputs }: Resource): HandedOver {
  const { before, complete, attemptedAt } = (outputs?.pending ?? {}) as Readonly<Record<string, unknown>>;
  return {
    id,
    before: Array.isArray(before) ? before.filter((each) => typeof each === "string") : [],
    complete: complete === true,
    attemptedAt: typeof attemptedAt === "number" ? attemptedAt : null,
  };
}
