import {
  type Deployment,
  interruptedRegistrations,
  keyIn,
  plainText,
  providerNameOf,
  type Resource,
} from "./deployment";
import { type Identity, isProvisional, keyOf } from "./identity";

/** The interrupted operations of a state that may have registered something, and what the state has of their resources. */
export class Operations {
  readonly #all: readonly Resource[];
  /** The hashes of the urls and types that they show. */
  readonly #keys: ReadonlySet<string | undefined>;

  constructor(private readonly deployment: Deployment) {
    this.#all = interruptedRegistrations(deployment);
    this.#keys = new Set(this.#all.map(keyIn));
  }

  /**
   * Returns those that may have registered this url and type. What the state encrypts may be any url.
   *
   * @param overtaken whether to return those, too, whose resource the state has as they were to make it. A later run made it, or only
   * `--replace` had asked for another one, so nothing takes what they made
   */
  like(identity: Identity, { overtaken = false } = {}): Resource[] {
    return this.#all.filter((operation) => {
      const { inputs } = operation;
      const [url = identity.url, type] = [plainText(inputs, "url"), plainText(inputs, "type")];
      // A replacement adopts nothing, whatever has become of the one that it replaces.
      const adopts = inputs?.adoptId !== undefined && !isReplacement(operation, this.deployment);
      if (adopts || (type !== "production" && type !== "development")) return false;
      return (
        keyOf({ url, type }) === keyOf(identity) && (overtaken || !isOvertaken(operation, this.deployment))
      );
    });
  }

  /** Returns whether one may have registered this url and type. @param overtaken as above, as far as secrets can be compared */
  has(key: string, { overtaken = false } = {}): boolean {
    return this.#all.some(
      (each) => (keyIn(each) ?? key) === key && (overtaken || !this.looksOvertaken(each)),
    );
  }

  /** Returns whether one shows this url and type. */
  hasUrl(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Returns whether the state has the resource of one, and nothing shows that it is another: secrets cannot be compared. */
  looksOvertaken(operation: Resource): boolean {
    return isOvertaken(operation, this.deployment, { secretsDiffer: false });
  }

  /** Returns since when the state has the resource of one, in milliseconds; undefined if it is not overtaken. */
  overtakenSince(operation: Resource): number | undefined {
    const living = livingOf(operation, this.deployment);
    return isOvertaken(operation, this.deployment) ? Date.parse(living?.created ?? "") : undefined;
  }
}

/** Returns the resource that the state has under the name of an interrupted operation. */
export function livingOf(operation: Resource, { resources = [] }: Deployment): Resource | undefined {
  return resources.find(
    (each) =>
      each.urn === operation.urn &&
      hasOwnEndpoint(each) &&
      providerNameOf(each) === providerNameOf(operation),
  );
}

/** Returns whether a resource has an endpoint that no replacement has taken from it. */
export function hasOwnEndpoint({ id = "", delete: gone, pendingReplacement, external }: Resource): boolean {
  return !isProvisional(id) && gone !== true && pendingReplacement !== true && external !== true;
}

/** Returns whether an interrupted operation was to replace a resource that had an endpoint, of whichever provider, or deleted first. */
export function isReplacement({ urn }: Resource, { resources = [] }: Deployment): boolean {
  return resources.some((each) => each.urn === urn && !isProvisional(each.id ?? "") && each.delete !== true);
}

/**
 * Returns whether the state has the resource of an interrupted operation as that was to make it.
 *
 * @param options.secretsDiffer whether two secrets count as different: the engine encrypts equal ones differently
 */
export function isOvertaken(
  operation: Resource,
  deployment: Deployment,
  { secretsDiffer = true }: { secretsDiffer?: boolean } = {},
): boolean {
  const living = livingOf(operation, deployment);
  const isSame = (name: string) => {
    const [one, other] = [living?.inputs?.[name], operation.inputs?.[name]];
    const areSecret = [one, other].every((each) => typeof each === "object" && each !== null);
    return (areSecret && !secretsDiffer) || JSON.stringify(one) === JSON.stringify(other);
  };
  return living !== undefined && ["url", "type", "ip"].every(isSame);
}
