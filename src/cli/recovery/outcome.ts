import type { Endpoint, EndpointList } from "../../client";
import { parseTimestamp } from "../../endpoint/settlement";
import { sameUrl } from "../../shared/url";
import type { InterruptedRun } from "./interruptedRun";
import type { InterruptedRegistration } from "./registration";

/**
 * What became of an interrupted registration:
 * - `made`: it made this endpoint
 * - `adopts`: it was to adopt this endpoint, which the service has; nothing was registered
 * - `not-made`: it made no endpoint that the service lists
 * - `unclear`: it may have made one of the candidates; a person must say which, if any
 */
export type Outcome =
  | { readonly kind: "made"; readonly registration: InterruptedRegistration; readonly endpoint: Endpoint }
  | { readonly kind: "adopts"; readonly registration: InterruptedRegistration; readonly id: string }
  | { readonly kind: "not-made"; readonly registration: InterruptedRegistration }
  | UnclearOutcome;

export interface UnclearOutcome {
  readonly kind: "unclear";
  readonly registration: InterruptedRegistration;
  readonly candidates: readonly Endpoint[];
  /** Why, as the end of a sentence. */
  readonly why: string;
  /** True if an endpoint that appears later may settle it. */
  readonly mayAppear: boolean;
}

export interface DecideOptions {
  /** Registrations of one account. */
  readonly registrations: readonly InterruptedRegistration[];
  readonly list: EndpointList;
  /** The ids of the endpoints that the stack has recorded. */
  readonly recorded: ReadonlySet<string>;
  /** On the service's clock, and until the last moment at which the run may have made an endpoint. */
  readonly run: InterruptedRun;
}

/**
 * Decides what became of each registration. A registration may have made an endpoint that has its url and
 * type, is not in the stack's state and is not older than the stack. It certainly did if the interrupted run was under way
 * when the endpoint was made.
 */
export function decide({ registrations, list, recorded, run }: DecideOptions): Outcome[] {
  const adoptions: Outcome[] = [];
  const others: InterruptedRegistration[] = [];
  for (const registration of registrations) {
    const id = registration.adoptId;
    if (id === undefined || !list.endpoints.some((endpoint) => endpoint.id === id)) others.push(registration);
    else adoptions.push({ kind: "adopts", registration, id });
  }
  const unavailable = new Set(recorded);
  for (const { adoptId } of registrations) if (adoptId !== undefined) unavailable.add(adoptId);
  const groups = alikeGroups(others);
  return [...adoptions, ...groups.flatMap((group) => decideGroup(group, { list, unavailable, run }))];
}

function decideGroup(
  group: NonEmpty<InterruptedRegistration>,
  {
    list,
    unavailable,
    run,
  }: Pick<DecideOptions, "list" | "run"> & { readonly unavailable: ReadonlySet<string> },
): Outcome[] {
  const [first] = group;
  const possible = list.endpoints.filter(
    (endpoint) =>
      endpoint.type === first.type &&
      sameUrl(endpoint.url, first.url) &&
      !unavailable.has(endpoint.id) &&
      // An endpoint without a readable time may have any age.
      !(parseTimestamp(endpoint.createdAt) < run.notBefore),
  );
  const certain = possible.filter(({ createdAt }) => {
    const moment = parseTimestamp(createdAt);
    return moment >= run.from && moment <= run.until;
  });
  const unclear = (why: string, { candidates = certain, mayAppear = false } = {}): Outcome[] =>
    group.map((registration) => ({ kind: "unclear", registration, candidates, why, mayAppear }));

  if (!list.complete)
    return unclear("the service lists only a part of its endpoints", { candidates: possible });
  const isOddType = list.unrecognized.some(
    ({ id, url }) => url !== null && sameUrl(url, first.url) && !unavailable.has(id),
  );
  if (isOddType && certain.length < group.length)
    return unclear("the service lists an endpoint with this url and an unknown type", {
      candidates: possible,
    });
  if (possible.length === 0) return group.map((registration) => ({ kind: "not-made", registration }));
  if (certain.length < group.length && possible.length > certain.length) {
    if (possible.some(({ createdAt }) => Number.isNaN(parseTimestamp(createdAt))))
      return unclear("the service does not report when the endpoint was created", { candidates: possible });
    return unclear("the endpoint may have been created before or after the interrupted run", {
      candidates: possible,
      mayAppear: true,
    });
  }
  if (certain.length > group.length)
    return unclear(`${certain.length} endpoints match ${group.length} interrupted registrations`);
  // Equal registrations take equal endpoints in any order.
  if (group.some(({ ip }) => ip !== first.ip))
    return unclear("the registrations differ only in ip, which the service does not report", {
      mayAppear: certain.length < group.length,
    });
  return group.map((registration, index) => {
    const endpoint = certain[index];
    return endpoint ? { kind: "made", registration, endpoint } : { kind: "not-made", registration };
  });
}

type NonEmpty<T> = [T, ...T[]];

/** Groups registrations by url and type: the service cannot tell those of one group apart. */
function alikeGroups(registrations: readonly InterruptedRegistration[]): NonEmpty<InterruptedRegistration>[] {
  const groups: NonEmpty<InterruptedRegistration>[] = [];
  for (const registration of registrations) {
    const group = groups.find(
      ([{ url, type }]) => type === registration.type && sameUrl(url, registration.url),
    );
    if (group) group.push(registration);
    else groups.push([registration]);
  }
  return groups;
}
