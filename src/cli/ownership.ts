import type { Endpoint } from "../client";
import {
  type Deployment,
  interruptedRegistrations,
  type Properties,
  plainText,
  type Resource,
} from "../endpoint/deployment";
import { isEndpointType } from "../endpoint/permanent";
import { isProvisional } from "../endpoint/state";
import { sameUrl } from "../endpoint/url";

/** What the states of some stacks hold about the endpoints of one service. */
export class Ownership {
  readonly #recorded = new Map<string, Resource[]>();
  readonly #unfinished: Resource[];

  /** @param baseUrl of the service, in the spelling of an `Origin` */
  constructor(
    deployments: readonly Deployment[],
    private readonly baseUrl: string,
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
    this.#unfinished = [
      ...deployments.flatMap(interruptedRegistrations),
      ...[...this.#recorded.values()].flat().filter(({ id = "" }) => isProvisional(id)),
    ];
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
   * Returns a resource whose registration has no known outcome and may have made this endpoint, or is to adopt it. What the state
   * encrypts may have any value.
   */
  registrationOf({ id, url, type }: Endpoint): Resource | undefined {
    return this.#unfinished.find(({ inputs, outputs }) => {
      if (inputs?.adoptId === id) return true;
      if (beforeOf(outputs).includes(id)) return false;
      const [wantedUrl, wantedType] = [plainText(inputs, "url"), plainText(inputs, "type")];
      return (wantedUrl === undefined || sameUrl(wantedUrl, url)) && (wantedType ?? type) === type;
    });
  }

  /**
   * Two services may have given one id to endpoints of their own. A resource of another base URL holds this endpoint if it looks
   * alike: then the service has moved. Another account's fingerprint alone may mean a rotated key.
   */
  #holders(endpoint: Endpoint): Resource[] {
    return (this.#recorded.get(endpoint.id) ?? []).filter(({ inputs, outputs }) => {
      const baseUrl = plainText(outputs, "baseUrl") ?? this.baseUrl;
      if (baseUrl === this.baseUrl) return true;
      const url = plainText(outputs, "url") ?? plainText(inputs, "url");
      const type = plainText(outputs, "type") ?? plainText(inputs, "type");
      return (url === undefined || sameUrl(url, endpoint.url)) && (type ?? endpoint.type) === endpoint.type;
    });
  }
}

/** Returns whether the state encrypts a resource's url, because the program declared it as a secret. */
export function hasSecretUrl({ inputs, outputs }: Resource): boolean {
  return [inputs?.url, outputs?.url].some((url) => typeof url === "object" && url !== null);
}

function isExternal({ external }: Resource): boolean {
  return external === true;
}

/** Returns the endpoints that were there before a registration without an answer. */
function beforeOf(outputs: Properties | undefined): readonly unknown[] {
  const { before } = (outputs?.pending ?? {}) as { before?: unknown };
  return Array.isArray(before) ? before : [];
}
