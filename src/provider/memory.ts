import type { Endpoint } from "../client";
import { normalizeUrl } from "../shared/url";
import type { Evidence } from "./decide";
import { aboutResource } from "./engine";
import type { PendingError } from "./errors";
import { type Identity, keyOf } from "./identity";
import { evidenceOf } from "./stackState";
import type { EndpointInputs, PendingState } from "./state";

/**
 * What this process learns about an endpoint, by its id. `closed` is about a registration, by a pending resource's id or the URN of an
 * interrupted creation.
 */
type Fact = "had" | "made" | "kept" | "replaced" | "named" | "read" | "closed";

/**
 * What the verbs of one run tell each other. The plugin is a process of its own for each provider and command, so the engine's calls
 * for all resources of a provider end up here (engine rule 14).
 */
export class Memory {
  readonly #facts = new Map<string, Set<Fact>>();
  /** The pending resources that `diff`, `read` or `delete` was asked about, by url and type. */
  readonly #pending = new Map<string, Map<string, Evidence>>();
  /** The registrations of this run that got no usable response, by url and type. */
  readonly #pendingErrors = new Map<string, PendingError>();
  /** The urls that the program declares as secrets, as far as they are known. */
  readonly #secretUrls = new Set<string>();
  /** The names of the resources that were checked, by their inputs: `create` gets nothing else (engine rule 28). */
  readonly #names = new Map<string, string[]>();

  /** A resource of the stack has this endpoint, or had it. */
  noteHad(id: string): void {
    this.#note(id, "had");
  }

  /** `create` returns it: registered, adopted or taken over. A resource has it from now on, though no list may show it yet. */
  noteMade(endpoint: Endpoint): Endpoint {
    this.#note(endpoint.id, "made");
    return endpoint;
  }

  /** `diff` keeps the resource of this endpoint, or replaces it. */
  noteDiff(id: string, isReplaced: boolean): void {
    this.#note(id, "had");
    if (isReplaced) this.#facts.get(id)?.delete("kept");
    this.#note(id, isReplaced ? "replaced" : "kept");
  }

  /** The `adoptId` of a new resource names it. */
  noteNamed(id: string): void {
    this.#note(id, "named");
  }

  /** A refresh has read it, and the engine's next `diff` only displays what changed (engine rule 7). */
  noteRead(id: string): void {
    this.#note(id, "had");
    this.#note(id, "read");
  }

  /** Nobody looks any more for what this registration made: that is known, or the user said to register another endpoint. */
  close({ id }: Pick<Evidence, "id">): void {
    this.#note(id, "closed");
  }

  isClosed({ id }: Pick<Evidence, "id">): boolean {
    return this.#has(id, "closed");
  }

  /** Returns whether `create` has returned an endpoint in this run. */
  hasMade(id: string): boolean {
    return this.#has(id, "made");
  }

  /** Returns whether a resource has an endpoint or had it, as far as a verb was asked about it in this run. */
  holds(id: string): boolean {
    return this.#has(id, "had") || this.#has(id, "made");
  }

  /** Returns whether `delete` must leave an endpoint alone (engine rule 17). */
  spares(id: string): boolean {
    const isNamed = this.#has(id, "named") && !this.#has(id, "replaced");
    return this.#has(id, "made") || this.#has(id, "kept") || isNamed;
  }

  /** Returns whether the engine's `diff` of this endpoint belongs to a refresh: true for one `diff` after each `read`. */
  endRefresh(id: string): boolean {
    return this.#facts.get(id)?.delete("read") ?? false;
  }

  /** Notes a pending resource, and returns what it says of its registration. */
  notePending(id: string, state: PendingState): Evidence {
    const evidence = evidenceOf({ id, outputs: { ...state } });
    const known = this.#pending.get(keyOf(state)) ?? new Map<string, Evidence>();
    this.#pending.set(keyOf(state), known.set(id, evidence));
    return evidence;
  }

  /** Returns the pending resources of this url and type that are not closed. */
  pendingLike(identity: Identity): Evidence[] {
    const noted = this.#pending.get(keyOf(identity))?.values() ?? [];
    return [...noted].filter((each) => !this.isClosed(each));
  }

  notePendingError(inputs: EndpointInputs, error: PendingError): void {
    this.#pendingErrors.set(keyOf(inputs), error);
  }

  pendingErrorLike(inputs: EndpointInputs): PendingError | undefined {
    const error = this.#pendingErrors.get(keyOf(inputs));
    return error && !this.isClosed(error) ? error : undefined;
  }

  noteSecretUrl(url: string): void {
    this.#secretUrls.add(normalizeUrl(url));
  }

  /** Returns whether the program declares this url, in any spelling, as a secret. */
  isSecretUrl(url: string): boolean {
    return this.#secretUrls.has(normalizeUrl(url));
  }

  noteName(news: EndpointInputs, name: string): void {
    const names = this.#names.get(keyOfInputs(news)) ?? [];
    if (!names.includes(name)) this.#names.set(keyOfInputs(news), [...names, name]);
  }

  /** Returns the names of the resources with these inputs. */
  namesOf(news: EndpointInputs): readonly string[] {
    return this.#names.get(keyOfInputs(news)) ?? [];
  }

  /** Begins a message with the resource that has these inputs, unless several have. */
  aboutResource(news: EndpointInputs, message: string): string {
    const [name, ...others] = this.namesOf(news);
    return aboutResource(others.length > 0 ? undefined : name, message);
  }

  #note(id: string, fact: Fact): void {
    this.#facts.set(id, (this.#facts.get(id) ?? new Set<Fact>()).add(fact));
  }

  #has(id: string, fact: Fact): boolean {
    return this.#facts.get(id)?.has(fact) ?? false;
  }
}

/** Returns one string for equal inputs. */
function keyOfInputs({ url, type, ip, adoptId, ifExists }: EndpointInputs): string {
  return JSON.stringify([url, type, ip, adoptId, ifExists]);
}
