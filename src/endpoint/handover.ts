import type { PendingRecord } from "../settlement/pendingResource";
import { describeUrl } from "../shared/url";
import { EndpointError } from "./errors";
import type { EndpointInputs } from "./types";

/** A resource that a new one replaces. */
export interface Replaced {
  readonly id: string;
  /** Present when its registration is pending at this service. */
  readonly pending: PendingRecord | undefined;
  /** Whether the new resource wants the same endpoint. */
  readonly wantsSame: boolean;
}

/**
 * Carries what `diff` knows about a replaced resource over to the `create` that replaces it: the engine passes `create` only
 * the new inputs (engine rule 28). Of resources that are replaced by equal inputs, any will do.
 */
export class Handover {
  readonly #replaced = new Map<string, Map<string, Replaced>>();
  /** What the resource that replaces another one is to adopt. */
  readonly #adoptIds = new Map<string, string>();
  /** The inputs whose adoptId the program did not have before. */
  readonly #newAdoptions = new Set<string>();

  announce(replaced: Replaced, inputs: EndpointInputs): void {
    if (inputs.adoptId !== undefined) this.#adoptIds.set(replaced.id, inputs.adoptId);
    const group = this.#replaced.get(keyOfInputs(inputs)) ?? new Map<string, Replaced>();
    this.#replaced.set(keyOfInputs(inputs), group.set(replaced.id, replaced));
  }

  /** Returns whether a resource with these inputs is about to replace another one. */
  has(inputs: EndpointInputs): boolean {
    return (this.#replaced.get(keyOfInputs(inputs))?.size ?? 0) > 0;
  }

  /** Returns whether a resource is still to be replaced: with `deleteBeforeReplace`, its `delete` comes before that `create`. */
  isWaiting(id: string): boolean {
    return [...this.#replaced.values()].some((group) => group.has(id));
  }

  /** Returns what the resource that replaces another one is to adopt. */
  adoptIdFor(id: string): string | undefined {
    return this.#adoptIds.get(id);
  }

  /** Carries over from `check`, which alone gets the old inputs, that the program names this adoptId for the first time. */
  noteNewAdoption(inputs: EndpointInputs): void {
    this.#newAdoptions.add(keyOfInputs(inputs));
  }

  isNewAdoption(inputs: EndpointInputs): boolean {
    return this.#newAdoptions.has(keyOfInputs(inputs));
  }

  /** Hands over a resource that one with these inputs replaces. Each is handed over once. */
  take(inputs: EndpointInputs): Replaced | undefined {
    const group = this.#replaced.get(keyOfInputs(inputs));
    const [replaced] = group?.values() ?? [];
    if (replaced) group?.delete(replaced.id);
    return replaced;
  }
}

/** Returns one string for equal inputs. */
export function keyOfInputs({ url, type, ip, adoptId, ifExists }: EndpointInputs): string {
  return JSON.stringify([url, type, ip, adoptId, ifExists]);
}

/**
 * Between the dynamic provider and the native plugin a resource with a pending registration cannot move. The engine would delete it
 * with the provider that it leaves, in a process that does not know which endpoint this one took over, and would delete that.
 */
export function assertSameDoor(
  olds: { __provider?: string; url: string },
  news: { __provider?: string },
): void {
  if ((olds.__provider === undefined) === (news.__provider === undefined)) return;
  throw new EndpointError(
    "STILL_PENDING",
    `the registration of ${describeUrl(olds.url)} is pending, so the resource cannot move to another provider yet. ` +
      "Run `pulumi refresh`, which settles it, and then `pulumi up` again. Nothing was changed.",
  );
}
