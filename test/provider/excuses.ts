import { evidenceOf, isFit } from "../../src/provider/facts/registrationEvidence";
import { StackState } from "../../src/provider/facts/stackState";
import { normalizeUrl, sameUrl } from "../../src/shared/url";
import type { Declared, Operation } from "./engineModel";
import type { Registered } from "./fakeService";
import { GRACE_MS, type World } from "./world";

interface Known {
  readonly declared: readonly Declared[];
  /** Every url that was ever declared. */
  readonly urls: ReadonlySet<string>;
  /** The stops about which a person has decided. */
  readonly stops: readonly string[];
  /** What nobody could know again. */
  readonly unknowable: ReadonlySet<Registered>;
}

export function namesId(message: string, id: string): boolean {
  return new RegExp(`\\b${id}\\b`).test(message);
}

/**
 * What the eight sentences leave to `list` and `doctor`: what an operation made that no run has healed (sentence 3), and what nobody could
 * know again.
 */
export function excusedOrphans(world: World, { declared, urls, stops, unknowable }: Known): Registered[] {
  let operations = new StackState(world.stack.deployment).interrupted;
  return world.unowned().filter((found) => {
    if (unknowable.has(found)) return true;
    if (found.by === undefined) return false;
    // The service stores the urls of several declarations alike: then one explains what another has lost.
    const alike = [...urls].filter((url) => world.service.spelled(url) === found.url);
    if (new Set(alike.map(normalizeUrl)).size > 1) return true;
    const key = world.keyIn(found.account, found);
    if (!world.pulumi.showsOperations && !stops.some((stop) => namesId(stop, found.id))) {
      // Without an operation, it is still listed when the next run registers: that must stop, and name it. But nothing tells whose another
      // spelling is.
      if (alike.length > 0 && !alike.some((url) => sameUrl(url, found.url))) return true;
      if (declared.some(({ provider, args }) => world.keyIn(provider, args) === key)) return false;
    }
    const endpoint = { ...found, createdAt: new Date(found.made).toISOString(), updatedAt: null };
    const its = operations.find(
      (each) => world.keyOf(each) === key && isFit(endpoint, evidenceOf(each), GRACE_MS),
    );
    // Each resource stands for at most one endpoint.
    operations = operations.filter(({ urn }) => urn !== its?.urn);
    return its !== undefined || isTooLate(world, found) || isUndated(world, found);
  });
}

/**
 * Whether a killed run's registration was made when no run waited for it any more, or too late for a list that lags to show it, because it was
 * sent long after its `check` (sentence 7). Another one's, which a pending resource looked for, may have been taken in its place.
 */
function isTooLate(world: World, found: Registered): boolean {
  const { made } = found;
  const { lagMs = 0, replicasAheadMs = [] } = world.service.habits;
  const spread = Math.max(0, ...replicasAheadMs) - Math.min(0, ...replicasAheadMs);
  const ends = creationsLike(world, found).map(
    (each) => (evidenceOf(each).earliestSentAt ?? made) + GRACE_MS,
  );
  // It waits no longer for its turn than for what another one may still make.
  return ends.some((end) => made > end - spread - lagMs && made <= end + GRACE_MS);
}

/** Whether its creation is undated, because `check` could not list: then what its resource had before counts as made by it (sentence 6). */
function isUndated(world: World, found: Registered): boolean {
  return creationsLike(world, found).some((each) => evidenceOf(each).earliestSentAt === undefined);
}

function creationsLike(world: World, found: Registered): Operation[] {
  const key = world.keyIn(found.account, found);
  return world.stack.pendingCreates.filter((each) => world.keyOf(each) === key);
}
