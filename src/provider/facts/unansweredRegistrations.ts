import type { PendingError } from "../errors";
import type { EndpointInputs, PendingState } from "../state";
import { type Evidence, evidenceOfPending } from "./registrationEvidence";
import { keyOf, type UrlAndType } from "./urlAndType";

/** What this run knows about registrations that got no usable response: its own, and those of pending resources. */
export class UnansweredRegistrations {
  /** The pending resources that `diff`, `read` or `delete` was asked about, by url and type. */
  readonly #pending = new Map<string, Map<string, Evidence>>();
  /** The registrations of this run that failed so, by url and type. */
  readonly #failed = new Map<string, PendingError>();
  /** The ids of evidence. */
  readonly #closed = new Set<string>();

  /** Notes a pending resource, and returns what it says of its registration. */
  notePending(id: string, state: PendingState): Evidence {
    const evidence = evidenceOfPending(id, state);
    const known = this.#pending.get(keyOf(state)) ?? new Map<string, Evidence>();
    this.#pending.set(keyOf(state), known.set(id, evidence));
    return evidence;
  }

  /** Returns the pending resources of this url and type that are not closed. */
  pendingLike(wanted: UrlAndType): Evidence[] {
    const noted = this.#pending.get(keyOf(wanted))?.values() ?? [];
    return [...noted].filter((each) => !this.isClosed(each));
  }

  noteFailed(inputs: EndpointInputs, error: PendingError): void {
    this.#failed.set(keyOf(inputs), error);
  }

  /** Returns the failure of this run's registration of this url and type, unless it is closed. */
  failedLike(inputs: EndpointInputs): PendingError | undefined {
    const error = this.#failed.get(keyOf(inputs));
    return error && !this.isClosed(error) ? error : undefined;
  }

  /**
   * Nobody looks any more for what this registration made: that is known or spared, or nothing, or the
   * user said to register another one.
   */
  close({ id }: Pick<Evidence, "id">): void {
    this.#closed.add(id);
  }

  isClosed({ id }: Pick<Evidence, "id">): boolean {
    return this.#closed.has(id);
  }
}
