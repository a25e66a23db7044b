import type { Endpoint } from "../../client";
import { type Evidence, isFit } from "../../provider/decide";
import { isPendingId, keyOf } from "../../provider/identity";
import { interruptedEvidence, pendingEvidence, type Resource, wantedBy } from "../../provider/stackState";
import { describeResource } from "../../shared/urn";
import { type KnownStack, type Stacks, whyUnread } from "./stacks";

/** A resource, or an operation on one that no run has finished, and the stack whose state has it. */
export interface Holder {
  readonly stack: KnownStack;
  readonly resource: Resource;
}

/**
 * Who has an endpoint:
 * - `managed`: a state has its id, whatever base URL and API key it was recorded with
 * - `pending`: an interrupted or unanswered registration may have made it, or an interrupted run was to adopt it
 * - `unknown`: not every stack was read
 * - `nobody`: every stack of the backend was read. Only such an endpoint is an orphan
 */
export type Owner =
  | { readonly kind: "managed" | "pending"; readonly by: readonly [Holder, ...Holder[]] }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "nobody" };

/** A registration that may have made an endpoint, or an adoption of one. */
interface Trace extends Holder {
  readonly fits: (endpoint: Endpoint) => boolean;
  /** Whether the state encrypts the url, so that any endpoint may be it. */
  readonly isHidden: boolean;
}

/** Says who has an endpoint, from the states of some stacks. */
export class Owners {
  readonly #recorded: ReadonlyMap<string, readonly [Holder, ...Holder[]]>;
  readonly #traces: readonly Trace[];
  readonly #others: Owner;

  /** @param patienceMs how long after it was sent a registration may still be made */
  constructor(stacks: Stacks, { patienceMs }: { readonly patienceMs: number }) {
    const recorded = new Map<string, [Holder, ...Holder[]]>();
    for (const holder of stacks.known.flatMap(holdersIn)) {
      const { id = "" } = holder.resource;
      recorded.set(id, [...(recorded.get(id) ?? []), holder]);
    }
    this.#recorded = recorded;
    this.#traces = stacks.known.flatMap((stack) => tracesIn(stack, patienceMs));
    const why = whyUnread(stacks) ?? (stacks.all ? undefined : "no stack of this project");
    this.#others = why === undefined ? { kind: "nobody" } : { kind: "unknown", why };
  }

  of(endpoint: Endpoint): Owner {
    const by = this.#recorded.get(endpoint.id);
    if (by !== undefined) return { kind: "managed", by };
    const trace = this.#traces.find(({ fits }) => fits(endpoint));
    return trace === undefined ? this.#others : { kind: "pending", by: [trace] };
  }

  /** The registrations without an answer whose url a state encrypts: they may have made any endpoint. */
  get hidden(): readonly Holder[] {
    return this.#traces.filter(({ isHidden }) => isHidden);
  }
}

/** Returns what has an id. An operation may be on an endpoint that exists, such as a deletion that was interrupted. */
function holdersIn(stack: KnownStack): Holder[] {
  const { resources, pending_operations } = stack.deployment;
  const all = [...pending_operations.map(({ resource }) => resource), ...resources].filter(({ id }) => id);
  const each = new Map(all.map((resource) => [`${resource.urn} ${resource.id}`, { stack, resource }]));
  return [...each.values()];
}

function tracesIn(stack: KnownStack, patienceMs: number): Trace[] {
  const { state, deployment } = stack;
  const adoptions = deployment.pending_operations.map(({ resource }) => {
    const fits = ({ id }: Endpoint) => id === resource.inputs?.adoptId;
    return { stack, resource, fits, isHidden: false };
  });
  const registration = (resource: Resource, evidence: Evidence): Trace => {
    const wanted = wantedBy(resource);
    const fits = (endpoint: Endpoint) =>
      (wanted === undefined || keyOf(wanted) === keyOf(endpoint)) && isFit(endpoint, evidence, patienceMs);
    return { stack, resource, fits, isHidden: wanted === undefined };
  };
  const pending = state.endpoints.filter(({ id = "" }) => isPendingId(id));
  return [
    ...adoptions,
    ...pending.map((resource) => registration(resource, pendingEvidence(resource))),
    ...state.interrupted.map((resource) => registration(resource, interruptedEvidence(resource))),
  ];
}

/** Describes an owner in a cell of a table. */
export function describeOwner(owner: Owner): string {
  if (owner.kind === "unknown") return owner.why;
  if (owner.kind === "nobody") return "no stack";
  const names = owner.by.map(({ resource }) => describeResource(resource)).join(" and ");
  return owner.kind === "managed" ? names : `perhaps ${names} (interrupted)`;
}

/** Says why an endpoint is not nobody's, as the rest of a sentence after its id; undefined for an orphan. */
export function whyNotOrphan(owner: Owner): string | undefined {
  if (!("by" in owner)) return owner.kind === "unknown" ? owner.why : undefined;
  const [{ stack, resource }] = owner.by;
  const name = describeResource(resource);
  if (owner.kind === "managed")
    return `${name} has it (${resource.urn}). Take it out of that program, and run \`pulumi up\``;
  return `an interrupted run of ${name} may have registered it, or was to adopt it. ${toSettle(stack)}`;
}

/** Says how a user settles what a run of a stack was interrupted in. */
export function toSettle({ name }: KnownStack): string {
  return (
    `Run \`pulumi up --stack ${name}\` there; if that does not settle it, ` +
    `\`pulumi refresh --clear-pending-creates --stack ${name}\``
  );
}

/** Returns an owner as `--json` prints it: null for an orphan, and only for an orphan. */
export function dataOfOwner(owner: Owner): object | null {
  if (owner.kind === "nobody") return null;
  if (owner.kind === "unknown") return owner;
  const resources = owner.by.map(({ stack, resource }) => ({ stack: stack.name, urn: resource.urn }));
  return { kind: owner.kind, resources };
}
