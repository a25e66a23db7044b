import { nameOf } from "../shared/urn";
import {
  type Deployment,
  endpointsIn,
  identityOf,
  isUrlSecret,
  keyIn,
  pendingResources,
  providerNameOf,
  type Resource,
  stackIn,
} from "./deployment";
import type { Entry } from "./entry";
import { type Identity, keyHash, keyOf } from "./identity";
import { Operations } from "./operations";
import {
  type Holder,
  holderAmong,
  isSame,
  isSameAccount,
  providerHashOf,
  type Trace,
  timesAgree,
  traceOfResource,
} from "./trace";

/** What a stack's state held at one moment. */
export class StackState {
  readonly #deployment: Deployment;
  /** The endpoints that it has, by id, also those that are to be deleted. */
  readonly #recorded = new Map<string, { readonly resource: Resource; readonly trace: Trace }[]>();
  /** How many resources have left their endpoint to others since, by its id. */
  readonly #givenUp = new Map<string, number>();
  readonly operations: Operations;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.operations = new Operations(deployment);
    for (const resource of endpointsIn(deployment)) {
      const { id = "" } = resource;
      this.#recorded.set(id, [...this.#of(id), { resource, trace: traceOfResource(resource) }]);
    }
  }

  /** Returns whether a resource of the stack has an endpoint. */
  holderOf(endpoint: Trace): Holder {
    const traces = this.#of(endpoint.id).map(({ trace }) => trace);
    return holderAmong(traces, endpoint);
  }

  /** The root URN of the stack; undefined before its first run. */
  get root(): string | undefined {
    return stackIn(this.#deployment)?.urn;
  }

  /**
   * Returns the resource that manages an endpoint, if one does. The stack may use another key of the account, or another name of the service:
   * then it is the same if it looks alike, and its time agrees, or where nothing tells that, its base URL. Ids may count for each account.
   */
  managerOf(endpoint: Trace): Resource | undefined {
    const isIt = (trace: Trace) =>
      holderAmong([trace], endpoint) !== "nobody" &&
      (isSameAccount(trace, endpoint) || isSame(trace.key, endpoint.key)) &&
      (timesAgree(trace, endpoint) ?? isSame(trace.service, endpoint.service));
    return this.#of(endpoint.id).find(({ resource, trace }) => resource.external !== true && isIt(trace))
      ?.resource;
  }

  /** Returns whether a resource has what an entry of this stack stands for. The key of its provider may have been rotated since. */
  has(entry: Trace): boolean {
    return this.#of(entry.id).some(({ resource, trace }) => {
      const holder = holderAmong([trace], entry);
      return holder === "somebody" || (holder === "unclear" && providerHashOf(resource) === entry.provider);
    });
  }

  /** Returns the resources that may have what an entry of this stack stands for, or whose registration it records as pending. */
  urnsOf(entry: Entry): string[] {
    // What it was taken over for may have another name since.
    const recorded = entry.takenAt === undefined ? this.#of(entry.id) : [];
    const holders = recorded.filter(({ trace }) => holderAmong([trace], entry) !== "nobody");
    const pending = entry.pendingId === undefined ? [] : this.#of(entry.pendingId);
    return [...holders, ...pending].map(({ resource }) => resource.urn);
  }

  /** Returns whether the registration of a resource is pending under this provisional id. */
  hasPending(id: string): boolean {
    return this.#of(id).length > 0;
  }

  /**
   * Returns whether another resource than the one that is deleted manages its endpoint.
   *
   * @param known what is known of endpoints that this stack registered: it tells when, which a state does not until a refresh
   */
  otherHolderOf(endpoint: Trace, known: readonly Trace[]): Holder {
    const datedOf = (trace: Trace) => (isSameAccount(trace, endpoint) ? [trace] : dated(trace, known));
    const holders = this.#of(endpoint.id)
      .filter(({ resource }) => resource.external !== true)
      .map(({ trace }) => holderAmong(datedOf(trace), endpoint))
      .filter((holder) => holder !== "nobody")
      .toSorted((a, b) => Number(b === "somebody") - Number(a === "somebody"));
    // The first one is the resource itself.
    return holders[1 + (this.#givenUp.get(endpoint.id ?? "") ?? 0)] ?? "nobody";
  }

  /** Notes that a resource is gone, and has left its endpoint to another one: the last one that goes deletes it. */
  giveUp(id: string): void {
    this.#givenUp.set(id, 1 + (this.#givenUp.get(id) ?? 0));
  }

  pendingLike(identity: Identity): Resource[] {
    const key = keyHash(identity);
    return pendingResources(this.#deployment).filter((each) => keyIn(each) === key);
  }

  /** Returns the resources with this url and type that have adopted their endpoint. A url that the state encrypts may be any. */
  adoptedLike(identity: Identity): Resource[] {
    return endpointsIn(this.#deployment).filter(
      (each) =>
        each.delete !== true &&
        each.inputs?.adoptId === each.id &&
        keyOf(identityOf(each) ?? identity) === keyOf(identity),
    );
  }

  /**
   * Returns which of some endpoints of a url and type a resource of this name and provider has, if exactly one has: resources with other
   * parents may have the same name. A url that the state encrypts may be any.
   */
  idOf(
    name: string,
    provider: string | undefined,
    { identity, ids }: { readonly identity: Identity; readonly ids: readonly string[] },
  ): string | undefined {
    const named = endpointsIn(this.#deployment).filter(
      (each) =>
        each.delete !== true &&
        // What a program only reads is nobody's to replace.
        each.external !== true &&
        ids.includes(each.id ?? "") &&
        nameOf(each.urn) === name &&
        providerNameOf(each) === provider &&
        keyOf(identityOf(each) ?? identity) === keyOf(identity),
    );
    return named.length === 1 ? named[0]?.id : undefined;
  }

  /**
   * Returns the provider of the resource that has recorded an endpoint, without a name if it is the default one; undefined if no resource
   * has, or if several have the id and none recorded it so.
   */
  providerOf(recorded: Trace): { readonly name: string | undefined } | undefined {
    const named = this.#of(recorded.id).filter(({ resource }) => resource.delete !== true);
    const own = named.find(({ trace }) => holderAmong([trace], recorded) === "somebody");
    const found = own ?? (named.length === 1 ? named[0] : undefined);
    return found && { name: providerNameOf(found.resource) };
  }

  hasSecretUrl(id: string): boolean {
    return this.#of(id).some(({ resource }) => isUrlSecret(resource));
  }

  /** When a run last wrote it, and when the stack began: with its first run, and again after each destroy. An empty one is yet to begin. */
  get times(): { readonly written: number; readonly created: number } {
    const { manifest } = this.#deployment;
    const root = stackIn(this.#deployment);
    const created = root === undefined ? Number.POSITIVE_INFINITY : Date.parse(root.created ?? "");
    return { written: Date.parse(manifest?.time ?? ""), created };
  }

  /** When the stack began, in milliseconds since 1970; undefined if nothing tells. */
  get began(): number | undefined {
    const { created } = this.times;
    return Number.isFinite(created) ? created : undefined;
  }

  #of(id: string | null | undefined) {
    return this.#recorded.get(id ?? "") ?? [];
  }
}

/** Returns a trace with each time that may be its own; the trace itself if nothing is known of it. */
function dated(trace: Trace, known: readonly Trace[]): readonly Trace[] {
  if (trace.createdAt !== undefined) return [trace];
  const same = known.filter(
    (each) => each.id === trace.id && each.key === trace.key && isSameAccount(each, trace),
  );
  return same.length === 0 ? [trace] : same.map(({ createdAt, window }) => ({ ...trace, createdAt, window }));
}
