import type { Pending } from "./decide";
import type { Resource } from "./deployment";
import { type Sent, windowOfSent } from "./entry";
import { provisionalId } from "./identity";

/** A pending registration as the state holds it, under a provisional id. */
export interface PendingRecord {
  /** Its provisional id. */
  readonly id: string;
  readonly before: readonly string[];
  readonly complete: boolean;
  /** When it was sent last, in milliseconds on the service's clock; null if unknown. */
  readonly attemptedAt: number | null;
  /** The same of the first time. Default: the last. */
  readonly firstAttemptedAt?: number | null;
}

/** Returns what the state is to hold of a registration that was sent. */
export function newRecord({ before, complete, serviceTime, lastTime = serviceTime }: Sent): PendingRecord {
  return { id: provisionalId(), before, complete, attemptedAt: lastTime, firstAttemptedAt: serviceTime };
}

export function pendingOfSent(sent: Omit<Sent, "at">, patienceMs: number): Pending {
  const { before, complete } = sent;
  return { window: windowOfSent(sent, patienceMs), before, complete, sameIp: true };
}

export function pendingOf(record: PendingRecord, patienceMs: number): Pending {
  const { attemptedAt, firstAttemptedAt = attemptedAt } = record;
  return pendingOfSent({ ...record, serviceTime: firstAttemptedAt, lastTime: attemptedAt }, patienceMs);
}

/** Returns the pending registration of a resource. What an edited state lacks is unknown. */
export function recordOf({ id = "", outputs }: Resource): PendingRecord {
  const { before, complete, attemptedAt, firstAttemptedAt } = (outputs?.pending ?? {}) as Readonly<
    Record<string, unknown>
  >;
  return {
    id,
    before: Array.isArray(before) ? before.filter((each) => typeof each === "string") : [],
    complete: complete === true,
    attemptedAt: timeOf(attemptedAt),
    ...(firstAttemptedAt === undefined ? {} : { firstAttemptedAt: timeOf(firstAttemptedAt) }),
  };
}

function timeOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
