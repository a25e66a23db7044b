import type { Endpoint } from "../client";
import type { Origin } from "../endpoint/origin";
import { type Deployment, type Properties, plainText, type Resource } from "../settlement/deployment";
import { isEndpointType } from "../shared/permanent";
import { sameUrl } from "../shared/url";

/** What the states of some stacks hold about the endpoints of one service. */
export class Ownership {
  readonly #recorded = new Map<string, Resource[]>();

  /** @param origin of the endpoints that the service lists */
  constructor(
    deployments: readonly Deployment[],
    private readonly origin: Origin,
  ) {
    const resources = deployments.flatMap(({ resources = [], pending_operations = [] }) => [
      ...resources,
      // An operation on an endpoint that exists, such as a deletion that was interrupted.
      ...pending_operations.map(({ resource }) => resource),
    ]);
    for (const resource of resources) {
      const { id, type } = resource;
      if (!id || !isEndpointType(type)) continue;
      this.#recorded.set(id, [...(this.#recorded.get(id) ?? []), resource]);
    }
  }

  /** Returns the resource that manages an endpoint, also one that the next `up` deletes. */
  managerOf(endpoint: Endpoint): Resource | undefined {
    return this.#holders(endpoint).find((resource) => !isExternal(resource));
  }

  /** Returns a resource that only reads an endpoint, with `.get`. */
  readerOf(endpoint: Endpoint): Resource | undefined {
    return this.#holders(endpoint).find(isExternal);
  }

  /**
   * Returns a resource that holds this id at this base URL with another API key, and that looks different. It is most likely another
   * account's. After a rotation of the key it may be this endpoint, which the service then spells in a way of its own.
   */
  namesakeOf(endpoint: Endpoint): Resource | undefined {
    if (this.#holders(endpoint).length > 0) return undefined;
    return this.#recorded.get(endpoint.id)?.find(({ outputs }) => this.#isHere(outputs));
  }

  /**
   * Two services, or two accounts, may have given one id to endpoints of their own. A resource of another base URL or key holds this
   * endpoint if it looks alike: then the service has moved, or the key was rotated.
   */
  #holders(endpoint: Endpoint): Resource[] {
    return (this.#recorded.get(endpoint.id) ?? []).filter(({ inputs, outputs }) => {
      const account = plainText(outputs, "account") ?? this.origin.account;
      if (this.#isHere(outputs) && account === this.origin.account) return true;
      const url = plainText(outputs, "url") ?? plainText(inputs, "url");
      const type = plainText(outputs, "type") ?? plainText(inputs, "type");
      return (url === undefined || sameUrl(url, endpoint.url)) && (type ?? endpoint.type) === endpoint.type;
    });
  }

  /** Returns whether a state's base URL is this service's. An import file may leave none. */
  #isHere(outputs: Properties | undefined): boolean {
    return (plainText(outputs, "baseUrl") ?? this.origin.baseUrl) === this.origin.baseUrl;
  }
}

/** Returns whether the state encrypts a resource's url, because the program declared it as a secret. */
export function hasSecretUrl({ inputs, outputs }: Resource): boolean {
  return [inputs?.url, outputs?.url].some((url) => typeof url === "object" && url !== null);
}

function isExternal({ external }: Resource): boolean {
  return external === true;
}
