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
 * - `pending`: what an interrupted or unanswered registration may have made, or what an interrupted run was to adopt
 * - `unknown`: not every stack was read
 * - `nobody`: every stack of the backend was read. Only such an endpoint is an orphan
 */
export type Owner =
  | { readonly kind: "managed"; readonly by: readonly [Holder, ...Holder[]] }
  | { readonly kind: "pending"; readonly by: Holder }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "nobody" };

/** A registration that may have made an endpoint. Its url and type are unknown if the state encrypts them. */
interface Trace extends Holder {
  readonly key: string | undefined;
  readonly evidence: Evidence;
}

/** Says who has an endpoint, from the states of some stacks. */
export class Owners {
  readonly #holders = new Map<string, [Holder, ...Holder[]]>();
  readonly #adopters = new Map<string, Holder>();
  readonly #traces: readonly Trace[];
  readonly #others: Owner;

  /** @param options.patienceMs how long after it was sent a registration may still be made */
  constructor(
    stacks: Stacks,
    private readonly options: { readonly patienceMs: number },
  ) {
    for (const stack of stacks.known) {
      const { resources, pending_operations } = stack.deployment;
      const operations = pending_operations.map(({ resource }) => resource);
      for (const resource of operations) {
        const { adoptId } = resource.inputs ?? {};
        if (typeof adoptId === "string") this.#adopters.set(adoptId, { stack, resource });
      }
      // An operation may be on an endpoint that exists, such as a deletion that was interrupted.
      const recorded = new Map([...operations, ...resources].map((each) => [`${each.urn} ${each.id}`, each]));
      for (const resource of recorded.values()) {
        if (!resource.id) continue;
        const holders = this.#holders.get(resource.id);
        if (holders) holders.push({ stack, resource });
        else this.#holders.set(resource.id, [{ stack, resource }]);
      }
    }
    this.#traces = stacks.known.flatMap(tracesIn);
    const why = whyUnread(stacks) ?? (stacks.all ? undefined : "no stack of this project");
    this.#others = why === undefined ? { kind: "nobody" } : { kind: "unknown", why };
  }

  of(endpoint: Endpoint): Owner {
    const by = this.#holders.get(endpoint.id);
    if (by !== undefined) return { kind: "managed", by };
    const maker =
      this.#adopters.get(endpoint.id) ?? this.#traces.find((trace) => this.#mayHaveMade(trace, endpoint));
    return maker === undefined ? this.#others : { kind: "pending", by: maker };
  }

  /** The registrations without an answer whose url a state encrypts: they may have made any endpoint. */
  get hidden(): readonly Holder[] {
    return this.#traces.filter(({ key }) => key === undefined);
  }

  #mayHaveMade({ key, evidence }: Trace, endpoint: Endpoint): boolean {
    return (key ?? keyOf(endpoint)) === keyOf(endpoint) && isFit(endpoint, evidence, this.options.patienceMs);
  }
}

function tracesIn(stack: KnownStack): Trace[] {
  const pending = stack.state.endpoints.filter(({ id = "" }) => isPendingId(id));
  const traceOf = (resource: Resource, evidence: Evidence): Trace => {
    const wanted = wantedBy(resource);
    return { stack, resource, evidence, key: wanted && keyOf(wanted) };
  };
  return [
    ...pending.map((resource) => traceOf(resource, pendingEvidence(resource))),
    ...stack.state.interrupted.map((resource) => traceOf(resource, interruptedEvidence(resource))),
  ];
}

/** Describes an owner in a cell of a table. */
export function describeOwner(owner: Owner): string {
  if (owner.kind === "managed")
    return owner.by.map(({ resource }) => describeResource(resource)).join(" and ");
  if (owner.kind === "pending") return `perhaps ${describeResource(owner.by.resource)} (interrupted)`;
  return owner.kind === "unknown" ? owner.why : "no stack";
}

/** Says why an endpoint is not nobody's, as the rest of a sentence after its id; undefined for an orphan. */
export function whyNotOrphan(owner: Owner): string | undefined {
  switch (owner.kind) {
    case "managed": {
      const [{ resource }] = owner.by;
      return `${describeResource(resource)} has it (${resource.urn}). Take it out of that program, and run \`pulumi up\``;
    }
    case "pending": {
      const { stack, resource } = owner.by;
      return (
        `an interrupted run of ${describeResource(resource)} may have registered it, or was to adopt it. Run \`pulumi up --stack ${stack.name}\` there; ` +
        `if that does not settle it, \`pulumi refresh --clear-pending-creates --stack ${stack.name}\``
      );
    }
    case "unknown":
      return owner.why;
    case "nobody":
      return undefined;
  }
}

/** Returns an owner as `--json` prints it: null for an orphan, and only for an orphan. */
export function dataOfOwner(owner: Owner): object | null {
  const dataOf = ({ stack, resource }: Holder) => ({ stack: stack.name, urn: resource.urn });
  switch (owner.kind) {
    case "managed":
      return { kind: owner.kind, resources: owner.by.map(dataOf) };
    case "pending":
      return { kind: owner.kind, ...dataOf(owner.by) };
    case "unknown":
      return owner;
    case "nobody":
      return null;
  }
}
