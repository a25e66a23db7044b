import { normalizeUrl } from "../../shared/url";
import { keyOfArguments } from "../arguments";
import { aboutResource } from "../engine";
import type { EndpointInputs } from "../state";

/** What the program declares, as far as `check` has seen it in this run. */
export class Declarations {
  /** The URNs of the resources, by their inputs: `create` gets nothing else (engine rule 28). */
  readonly #urns = new Map<string, string[]>();
  /** The inputs whose `adoptId` has no effect any more. */
  readonly #spent = new Set<string>();
  /** Of the resources that are to get an endpoint, in one spelling each. */
  readonly #newUrls = new Set<string>();
  readonly #secretUrls = new Set<string>();

  /** @param urn undefined if nobody told it @param willCreate whether the resource is to get an endpoint */
  note(inputs: EndpointInputs, urn: string | undefined, willCreate: boolean): void {
    if (willCreate) this.#newUrls.add(normalizeUrl(inputs.url));
    const urns = this.#urns.get(keyOfArguments(inputs)) ?? [];
    if (urn !== undefined && !urns.includes(urn)) this.#urns.set(keyOfArguments(inputs), [...urns, urn]);
  }

  /** The resource with these inputs has an endpoint, or was declared with this `adoptId` before. */
  noteSpent(inputs: EndpointInputs): void {
    this.#spent.add(keyOfArguments(inputs));
  }

  isSpent(inputs: EndpointInputs): boolean {
    return this.#spent.has(keyOfArguments(inputs));
  }

  noteSecretUrl(url: string): void {
    this.#secretUrls.add(normalizeUrl(url));
  }

  /** Returns whether the program declares this url, in any spelling, as a secret. */
  isSecretUrl(url: string): boolean {
    return this.#secretUrls.has(normalizeUrl(url));
  }

  /** Returns whether a resource that is to get an endpoint declares this url. */
  hasNewUrl(url: string): boolean {
    return this.#newUrls.has(normalizeUrl(url));
  }

  /** Returns the URNs of the resources with these inputs. */
  urnsOf(inputs: EndpointInputs): readonly string[] {
    return this.#urns.get(keyOfArguments(inputs)) ?? [];
  }

  /** Begins a message with the resource that has these inputs, unless several have. */
  aboutResource(inputs: EndpointInputs, message: string): string {
    const [urn, ...others] = this.urnsOf(inputs);
    return aboutResource(others.length > 0 ? undefined : urn, message);
  }
}
