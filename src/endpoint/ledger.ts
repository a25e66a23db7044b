import type { Endpoint, EndpointList } from "../client";
import { alike, type Identity, keyOf } from "../settlement/identity";

/**
 * What a run learns about an endpoint:
 * - `owned`: a resource in the state has it
 * - `kept`, `replaced`: what `up` does with that resource
 * - `made`: this run registered or adopted it for a resource
 * - `deleted`: this run deleted it
 * - `wanted`: a new resource is to adopt it, so a resource that gives it up must not delete it
 * - `recovered`: a refresh found that a pending registration had made it
 * - `refreshed`: a refresh has just read it, and the engine's next `diff` only displays what changed (engine rule 7)
 *
 * And about a pending registration, by its provisional id:
 * - `settled`: its outcome is known
 */
type Fact =
  | "owned"
  | "kept"
  | "replaced"
  | "made"
  | "deleted"
  | "wanted"
  | "recovered"
  | "refreshed"
  | "settled";

/**
 * What the verbs of one run tell each other about endpoints. A run is one plugin process, so the engine's calls for all resources
 * of a provider end up here (engine rule 14). The book holds the facts that other processes must know.
 */
export class Ledger {
  readonly #facts = new Map<string, Set<Fact>>();
  /** The ids that this run registered, adopted or recovered, by url and type. */
  readonly #ours = new Map<string, Set<string>>();

  note(id: string, fact: Fact): void {
    const facts = this.#facts.get(id) ?? new Set<Fact>();
    if (fact === "replaced") facts.delete("kept");
    this.#facts.set(id, facts.add(fact));
  }

  /** Records that this run registered, adopted, recovered or deleted an endpoint that no list may show yet. */
  noteOurs(endpoint: Endpoint, fact: "made" | "recovered" | "deleted"): Endpoint {
    this.note(endpoint.id, fact);
    const key = keyOf(endpoint);
    this.#ours.set(key, (this.#ours.get(key) ?? new Set<string>()).add(endpoint.id));
    return endpoint;
  }

  has(id: string, fact: Fact): boolean {
    return this.#facts.get(id)?.has(fact) ?? false;
  }

  /** Returns whether `delete` may delete this endpoint: no resource that this run made or keeps has it (engine rule 17). */
  mayDelete(id: string): boolean {
    return !this.isKept(id) && (!this.has(id, "wanted") || this.has(id, "replaced"));
  }

  /** Returns whether a resource has this endpoint after this run. */
  isKept(id: string): boolean {
    return this.has(id, "made") || this.has(id, "kept");
  }

  /** Returns whether this run replaces or has deleted the resource that had this endpoint. */
  isGivenUp(id: string): boolean {
    return this.has(id, "replaced") || this.has(id, "deleted");
  }

  /** Returns whether a resource that this run has met has or had this endpoint. */
  isClaimed(id: string): boolean {
    return [...(this.#facts.get(id) ?? [])].some((fact) => fact !== "wanted");
  }

  /** Returns whether the engine's `diff` of this endpoint belongs to a refresh: true for one `diff` after each refresh. */
  endRefresh(id: string): boolean {
    return this.#facts.get(id)?.delete("refreshed") ?? false;
  }

  /** Returns the ids of this url and type that are in the list, and those that this run has registered, adopted or recovered since. */
  alikeSoFar(list: EndpointList, identity: Identity): string[] {
    const listed = alike(list, identity).map(({ id }) => id);
    return [...new Set([...listed, ...(this.#ours.get(keyOf(identity)) ?? [])])];
  }
}
