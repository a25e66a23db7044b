import { isEndpointType } from "../shared/permanent";
import type { Deployment, Resource } from "./deployment";
import { isProvisional } from "./identity";

/** A pending registration as the state holds it, under a provisional id. */
export interface HandedOver {
  /** Its provisional id. */
  readonly id: string;
  readonly before: readonly string[];
  readonly complete: boolean;
  /** In milliseconds on the service's clock; null if unknown. */
  readonly attemptedAt: number | null;
}

/** Returns the resources of a state whose registration is pending. */
export function pendingResources({ resources = [] }: Deployment): Resource[] {
  return resources.filter(({ id, type }) => isEndpointType(type) && id !== undefined && isProvisional(id));
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
