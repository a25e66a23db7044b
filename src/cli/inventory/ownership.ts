import type { Endpoint } from "../../client";
import type { Origin } from "../../endpoint/origin";
import { isUrlSecret, plainText, type Resource } from "../../settlement/deployment";
import { isEndpointToken } from "../../shared/permanent";
import { sameUrl } from "../../shared/url";
import { describeResource, describeStackOf } from "../../shared/urn";
import type { KnownStack } from "./stacks";

/**
 * Who has an endpoint:
 * - `manages`: a resource, also one that the next `up` deletes, and perhaps resources of other stacks
 * - `reads`: a resource that only reads it, with `.get`
 * - `may-hold`: a resource with this id whose base URL, key or looks differ, or the case of its id. It is another account's, unless the
 *   service has two names or the key was rotated
 * - `interrupted`: an interrupted run of a stack (`project/stack`) may have registered it, or was to adopt it
 * - `unknown`: not every state was read
 * - `nobody`: every state was read. Only such an endpoint is an orphan
 */
export type Owner =
  | { readonly kind: "manages"; readonly resource: Resource; readonly also: readonly Resource[] }
  | { readonly kind: "reads" | "may-hold"; readonly resource: Resource }
  | { readonly kind: "interrupted"; readonly stack: string }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "nobody" };

/** What the states of some stacks hold about the endpoints of one service. */
export class Ownership {
  /** By their ids in lower case: a list may spell a GUID otherwise than the response to its registration did. */
  readonly #recorded = new Map<string, Resource[]>();

  /** @param origin of the endpoints that the service lists */
  constructor(
    stacks: readonly KnownStack[],
    private readonly origin: Origin,
  ) {
    for (const { deployment } of stacks) {
      const { resources = [], pending_operations = [] } = deployment;
      // An operation may be on an endpoint that exists, such as a deletion that was interrupted.
      for (const resource of [...resources, ...pending_operations.map((operation) => operation.resource)]) {
        if (!resource.id) continue;
        const id = resource.id.toLowerCase();
        const same = this.#recorded.get(id);
        if (same) same.push(resource);
        else this.#recorded.set(id, [resource]);
      }
    }
  }

  /** Returns who has an endpoint by its id; undefined if no state holds the id. */
  ownerOf(endpoint: Endpoint): Owner | undefined {
    const recorded = this.#recorded.get(endpoint.id.toLowerCase()) ?? [];
    const holders = recorded
      .filter((each) => each.id === endpoint.id && this.#holds(each, endpoint))
      .sort((a, b) => Number(this.#isOfAccount(b)) - Number(this.#isOfAccount(a)));
    const [manager, ...more] = holders.filter(({ external }) => external !== true);
    if (manager) {
      // One of another key may be another account's, and one that looks otherwise may be from before the id was used again.
      const sure = [manager, ...more].filter((each) => this.#isOfAccount(each) && isAlike(each, endpoint));
      const byStack = new Map(sure.map((each) => [describeStackOf(each.urn), each]));
      byStack.delete(describeStackOf(manager.urn));
      return { kind: "manages", resource: manager, also: [...byStack.values()] };
    }
    const [reader] = holders;
    if (reader) return { kind: "reads", resource: reader };
    const [namesake] = recorded;
    return namesake && { kind: "may-hold", resource: namesake };
  }

  /**
   * Two services, or two accounts, may have given one id to endpoints of their own. A resource of another base URL or key holds this
   * endpoint if it looks alike: then the service has moved, or the key was rotated. One of this base URL and key comes first.
   */
  #holds(resource: Resource, endpoint: Endpoint): boolean {
    return isEndpointToken(resource.type) && (this.#isOfAccount(resource) || isAlike(resource, endpoint));
  }

  /** Returns whether a resource was recorded with this base URL and key. An import file may leave neither. */
  #isOfAccount({ outputs }: Resource): boolean {
    const { baseUrl, account } = this.origin;
    return (
      (plainText(outputs, "baseUrl") ?? baseUrl) === baseUrl &&
      (plainText(outputs, "account") ?? account) === account
    );
  }
}

function isAlike({ inputs, outputs }: Resource, endpoint: Endpoint): boolean {
  const url = plainText(outputs, "url") ?? plainText(inputs, "url");
  const type = plainText(outputs, "type") ?? plainText(inputs, "type");
  return (url === undefined || sameUrl(url, endpoint.url)) && (type ?? endpoint.type) === endpoint.type;
}

/** Describes an owner in a cell of a table. */
export function describeOwner(owner: Owner): string {
  switch (owner.kind) {
    case "manages":
      return [owner.resource, ...owner.also].map(describeResource).join(" and ");
    case "reads":
      return `read by ${describeResource(owner.resource)}`;
    case "may-hold":
      return `perhaps ${describeResource(owner.resource)}`;
    case "interrupted":
      return `perhaps an interrupted run of ${owner.stack}`;
    case "unknown":
      return owner.why;
    case "nobody":
      return "-";
  }
}

/** Says why nothing else may have an endpoint, as the rest of a sentence after its id; undefined for an orphan. */
export function explainOwner(owner: Owner): string | undefined {
  switch (owner.kind) {
    case "manages":
      return `${describeResource(owner.resource)} manages it (${owner.resource.urn})`;
    case "reads":
      return `${describeResource(owner.resource)} only reads it, so another program may manage it`;
    case "may-hold":
      return `${describeResource(owner.resource)} may be its resource: the state has this id with another base URL, key, url, type or case (${owner.resource.urn})`;
    case "interrupted":
      return `an interrupted run of ${owner.stack} may have registered it, or was to adopt it. Run \`npx pulumi-webhook-endpoints recover\` and \`pulumi up\` there first. If both have ended well already, \`pulumi refresh --clear-pending-creates\` there ends it`;
    case "unknown":
      return "not every state was read";
    case "nobody":
      return undefined;
  }
}

/** Returns an owner as `--json` prints it: null for an orphan, and only for an orphan. */
export function dataOfOwner(owner: Owner): object | null {
  switch (owner.kind) {
    case "nobody":
      return null;
    case "unknown":
      return { kind: owner.kind };
    case "interrupted":
      return owner;
    case "manages":
      return {
        kind: owner.kind,
        urn: owner.resource.urn,
        ...(owner.also.length > 0 && { also: owner.also.map(({ urn }) => urn) }),
      };
    default:
      return { kind: owner.kind, urn: owner.resource.urn };
  }
}

/** Returns whether the state encrypts the url of an endpoint's owner, because the program declared it as a secret, or may do so. */
export function mayHaveSecretUrl(owner: Owner): boolean {
  if (owner.kind === "interrupted") return true;
  return "resource" in owner && isUrlSecret(owner.resource);
}
