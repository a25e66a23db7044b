import type { Endpoint } from "../../client";
import { AFTER_INPUT, isPendingId, type PendingRegistration } from "../../shared/permanent";
import type { PendingState } from "../state";
import { type Resource, wantedBy } from "./exportedState";
import { isInWindow, parseTimestamp } from "./time";
import { keyOf } from "./urlAndType";

/** A registration that may have made an endpoint: of a pending resource, or an interrupted creation. */
export interface Evidence {
  /**
   * Of a pending resource, its id; of an interrupted creation, its URN with the url and type that it was to get, because the resource may be
   * declared otherwise by now. Evidence with one id stands for at most one endpoint.
   */
  readonly id: string;
  /** Undefined if the state encrypts it. */
  readonly ip: string | null | undefined;
  /**
   * The earliest time at which it was sent, in milliseconds on the service's clock: that of a pending resource, to the second; of an interrupted
   * creation, when `check` was called for it (the hidden input `__after`). Undefined: nothing dates it.
   */
  readonly earliestSentAt: number | undefined;
  /** The ids that were listed before it was sent, as far as somebody noted them. */
  readonly idsBefore: ReadonlySet<string>;
}

/** Returns what a pending resource or an interrupted creation says of its registration. */
export function evidenceOf(resource: Partial<Resource>): Evidence {
  const { id = "", urn = "", inputs, outputs } = resource;
  const { before, attemptedAt } = (outputs?.pending ?? {}) as Partial<PendingRegistration>;
  const { ip = null } = { ...inputs, ...outputs };
  const isPending = isPendingId(id);
  const wanted = wantedBy(resource);
  const sentAt = isPending ? attemptedAt : afterOf(resource);
  return {
    id: isPending ? id : `${urn} ${wanted ? keyOf(wanted) : ""}`,
    ip: typeof ip === "string" || ip === null ? ip : undefined,
    earliestSentAt: typeof sentAt === "number" ? sentAt : undefined,
    idsBefore: new Set(Array.isArray(before) ? before : []),
  };
}

/** Returns what a pending resource says of its registration. */
export function evidenceOfPending(id: string, state: PendingState): Evidence {
  return evidenceOf({ id, outputs: { ...state } });
}

/** Returns the time after which an interrupted creation was sent, if its inputs have it. */
export function afterOf({ inputs }: Partial<Resource>): number | undefined {
  const after = inputs?.[AFTER_INPUT];
  return typeof after === "number" ? after : undefined;
}

/** Returns whether a registration may have made an endpoint, as far as the endpoint's time can be read. */
export function isFit(
  { id, createdAt }: Endpoint,
  { idsBefore, earliestSentAt }: Evidence,
  graceMs: number,
): boolean {
  const made = parseTimestamp(createdAt);
  const isInTime =
    made === undefined || earliestSentAt === undefined || isInWindow(made, earliestSentAt, graceMs);
  return isInTime && !idsBefore.has(id);
}
