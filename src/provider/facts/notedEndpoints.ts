import type { Endpoint } from "../../client";
import { isMadeLater } from "./same";
import type { RecordedTimes } from "./time";

/** What a verb of this run has noted about an endpoint. */
type Note = "given" | "replaced" | "named" | "read" | "deleted" | "denied";

/**
 * What this run knows about endpoints, by their ids. The plugin is a process of its own for each provider and command, so the engine's
 * calls for all resources of a provider end up here (engine rule 14).
 */
export class NotedEndpoints {
  readonly #notes = new Map<string, Set<Note>>();
  /** When those were made that resources of the stack have, or had: several with one id, where the service uses ids again. */
  readonly #times = new Map<string, RecordedTimes[]>();
  /** The same of those whose resources `diff` keeps. */
  readonly #kept = new Map<string, RecordedTimes[]>();

  /** A resource of the stack has this endpoint, or had it. @param recorded when it was made */
  noteHad(id: string, recorded: RecordedTimes): void {
    this.#times.set(id, [...(this.#times.get(id) ?? []), recorded]);
  }

  /** `create` returns it: registered, adopted or taken over. A resource has it from now on, though no list may show it yet. */
  noteGiven(endpoint: Endpoint): Endpoint {
    // A service may use the id of what this run deleted again.
    this.#notes.get(endpoint.id)?.delete("deleted");
    this.#note(endpoint.id, "given");
    return endpoint;
  }

  /** `diff` keeps the resource of this endpoint, or replaces it. */
  noteDiff(id: string, recorded: RecordedTimes, isReplaced: boolean): void {
    this.noteHad(id, recorded);
    if (isReplaced) this.#note(id, "replaced");
    this.#kept.set(id, isReplaced ? [] : [...(this.#kept.get(id) ?? []), recorded]);
  }

  /** The `adoptId` of a new resource names it. */
  noteAdoptId(id: string): void {
    this.#note(id, "named");
  }

  /** A refresh has read it, and the engine's next `diff` only displays what changed (engine rule 7). */
  noteRead(endpoint: Endpoint): void {
    this.noteHad(endpoint.id, endpoint);
    this.#note(endpoint.id, "read");
  }

  /** This run has deleted it, or it is gone. A list may show it for some seconds more, and the service may use its id again. */
  noteDeleted(id: string): void {
    this.#times.delete(id);
    this.#kept.delete(id);
    this.#notes.set(id, new Set<Note>(["deleted"]));
  }

  /** A get has denied it. That alone does not show that it is gone, but nothing more is asked about it. */
  noteDenied(id: string): void {
    this.#note(id, "denied");
  }

  /** Returns whether `create` has returned it in this run. */
  isGiven(id: string): boolean {
    return this.#has(id, "given");
  }

  /**
   * Returns whether a resource of the stack has it, or had it, as far as a verb of this run was asked about it. What was made later than what has
   * its id is another one.
   *
   * @param graceMs how long after it was sent a registration may still be made
   */
  isOurs(endpoint: Pick<Endpoint, "id"> & Partial<Endpoint>, graceMs: number): boolean {
    const known = this.#times.get(endpoint.id) ?? [];
    return this.isGiven(endpoint.id) || known.some((each) => !isMadeLater(endpoint, each, graceMs));
  }

  isDeleted(id: string): boolean {
    return this.#has(id, "deleted");
  }

  /**
   * Returns whether `delete` must leave it alone (engine rule 17). What is kept may be another one, which had its id before.
   *
   * @param recorded when it was made
   */
  isSpared(id: string, recorded: RecordedTimes, graceMs: number): boolean {
    const isNamed = this.#has(id, "named") && !this.#has(id, "replaced");
    const isKept = this.#kept.get(id)?.some((each) => !isMadeLater(recorded, each, graceMs)) ?? false;
    return this.#has(id, "given") || isKept || isNamed;
  }

  /** Returns whether nothing that this run knows speaks against an endpoint of the state: it should be listed. */
  isExpected(id: string): boolean {
    return !this.isGiven(id) && !this.isDeleted(id) && !this.#has(id, "denied");
  }

  /** The ids of earlier runs that resources of the stack have. */
  get had(): readonly string[] {
    return [...this.#times.keys()];
  }

  /** Returns whether the engine's `diff` of this endpoint belongs to a refresh: true for one `diff` after each `read`. */
  endRefresh(id: string): boolean {
    return this.#notes.get(id)?.delete("read") ?? false;
  }

  #note(id: string, note: Note): void {
    this.#notes.set(id, (this.#notes.get(id) ?? new Set<Note>()).add(note));
  }

  #has(id: string, note: Note): boolean {
    return this.#notes.get(id)?.has(note) ?? false;
  }
}
