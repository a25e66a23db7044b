import type { Endpoint } from "../../client";
import { isEndpointToken, isPendingId, type Origin } from "../../shared/permanent";
import { sameUrl } from "../../shared/url";
import {
  type Deployment,
  hasEndpoint,
  providerNameOf,
  type Resource,
  type Wanted,
  wantedBy,
} from "./exportedState";
import { afterOf, type Evidence, evidenceOf } from "./registrationEvidence";
import { isAsRecorded, isMadeLater, nearlySameUrl } from "./same";
import { keyOf } from "./urlAndType";

/** Whose evidence is wanted: that of an endpoint of one provider, and of the resources that declare it. */
interface EvidenceQuery {
  readonly wanted: Wanted;
  /** A url that the state encrypts is compared by the resource's URN. */
  readonly urns: readonly string[];
  readonly origin: Origin;
}

/** A resource of the stack that has an endpoint, or may have it. `owner.ts` adds what this run knows. */
export interface Holder {
  readonly resource: Resource;
  /**
   * - `own`: a `WebhookEndpoint`
   * - `otherType`: a resource of another type, which holds the id and the url
   * - `perhapsOtherType`: a dynamic resource with the id, which holds something encrypted
   */
  readonly kind: "own" | "otherType" | "perhapsOtherType";
}

/** Dynamic resources, in the languages that have them. */
const DYNAMIC = /^pulumi-(nodejs|python):dynamic/;

/** A stack's state at one moment: who has an endpoint, and what may have registered one without a response. */
export class StackState {
  readonly #deployment: Deployment;
  /** By id: the resources that may have an endpoint, whatever their type and provider. */
  readonly #byId = new Map<string, Resource[]>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    for (const resource of this.#resources) {
      const { id = "", external, pendingReplacement } = resource;
      if (id === "" || external || pendingReplacement) continue;
      const known = this.#byId.get(id);
      if (known) known.push(resource);
      else this.#byId.set(id, [resource]);
    }
  }

  /** The endpoints in the state, pending ones and those that the next `up` deletes included. */
  get endpoints(): readonly Resource[] {
    return this.#resources.filter(({ type, external }) => isEndpointToken(type) && !external);
  }

  /**
   * Returns the resource of the stack that has an endpoint of today's account, or may have it. Ids may count for each account, so what was
   * recorded with another base URL or key must have its url and type, too. What was made later than what has its id is another one.
   */
  holderOf(
    endpoint: Pick<Endpoint, "id"> & Partial<Endpoint>,
    { origin, graceMs }: { readonly origin: Origin; readonly graceMs: number },
  ): Holder | undefined {
    const isIts = (each: Resource) =>
      isOwn(each, endpoint, origin) && !isMadeLater(endpoint, { ...each.outputs }, graceMs);
    const all = this.#with(endpoint.id).filter((each) => isEndpointToken(each.type) && isIts(each));
    const own = all.find((each) => !each.delete) ?? all[0];
    return own === undefined ? this.holderOfOtherType(endpoint) : { resource: own, kind: "own" };
  }

  /** Returns the resource of another type that has an endpoint, or may have it. */
  holderOfOtherType({ id, url }: Pick<Endpoint, "id"> & Partial<Endpoint>): Holder | undefined {
    const others = this.#with(id).filter((each) => !isEndpointToken(each.type) && !each.delete);
    // It holds the url as it was declared, and the service may have stored another spelling.
    const holds = (each: Resource) =>
      url !== undefined && urlsIn(each).some((its) => nearlySameUrl(its, url));
    const other = others.find(holds);
    if (other !== undefined) return { resource: other, kind: "otherType" };
    const perhaps = others.find(isSealed);
    return perhaps && { resource: perhaps, kind: "perhapsOtherType" };
  }

  /**
   * Returns whether the `adoptId` of a resource has no effect any more, so that what creates it registers: the resource has an endpoint, or
   * it was declared with this `adoptId` before.
   */
  isSpent(urn: string, adoptId: unknown): boolean {
    return this.endpoints.some((each) => {
      if (each.urn !== urn || each.delete) return false;
      return hasEndpoint(each) || each.inputs?.adoptId === adoptId;
    });
  }

  /** Returns the resources whose endpoints this account should have. */
  expectedAt({ account, baseUrl }: Origin): readonly Resource[] {
    return this.endpoints.filter((each) => {
      const isHere = each.outputs?.account === account && each.outputs.baseUrl === baseUrl;
      return isHere && hasEndpoint(each);
    });
  }

  /** The pending resources and the interrupted creations: the registrations that got no response. */
  get unanswered(): readonly Resource[] {
    return [...this.endpoints.filter(({ id = "" }) => isPendingId(id)), ...this.interrupted];
  }

  /** Returns what may have registered what is wanted. */
  evidence(query: EvidenceQuery): Evidence[] {
    return this.unanswered.filter((each) => isOf(each, query)).map(evidenceOf);
  }

  /** Returns whether a registration that got no response declares this url in plain text. @param except its URNs do not count */
  declares(url: string, except: readonly string[]): boolean {
    const others = this.unanswered.filter(({ urn }) => !except.includes(urn));
    return others.some((each) => sameUrl(wantedBy(each)?.url ?? "", url));
  }

  /**
   * The creations that killed runs left. Those with an `adoptId` that is not spent do not count, because they register nothing, and neither do
   * those whose resource was recorded since, with the same url, type and ip (one that the state encrypts counts as none). Two kills leave two operations of one
   * URN.
   */
  get interrupted(): readonly Resource[] {
    return this.#creations
      .filter(({ urn, inputs }) => inputs?.adoptId === undefined || this.isSpent(urn, inputs.adoptId))
      .filter((operation) => !this.#isRecordedSince(operation));
  }

  /** Returns how many creations at one of these URNs and with this `__after` have not ended. */
  countCreations(urns: readonly string[], after: number | undefined): number {
    return this.#creations.filter((each) => urns.includes(each.urn) && afterOf(each) === after).length;
  }

  #with(id: string): readonly Resource[] {
    return this.#byId.get(id) ?? [];
  }

  get #resources(): readonly Resource[] {
    return this.#deployment.resources ?? [];
  }

  get #creations(): readonly Resource[] {
    return (this.#deployment.pending_operations ?? [])
      .filter(({ type, resource }) => type === "creating" && isEndpointToken(resource.type))
      .map(({ resource }) => resource);
  }

  /** Returns whether what an operation was to make stands in the state. Times decide only among equals: a service's clock may go back. */
  #isRecordedSince(operation: Resource): boolean {
    return this.endpoints.some((recorded) => {
      if (recorded.urn !== operation.urn || providerNameOf(recorded) !== providerNameOf(operation))
        return false;
      const [one, other] = [wantedBy(operation), wantedBy(recorded)];
      if (one && other && (keyOf(one) !== keyOf(other) || one.ip !== other.ip)) return false;
      const [began, after] = [afterOf(operation), afterOf(recorded)];
      // Nothing dates what the native plugin began: what is recorded as it was to be made counts as made by it.
      return began === undefined || (after !== undefined && after >= began);
    });
  }
}

/** Returns whether a resource of any type may have an endpoint, whichever that is. */
export function mayHaveEndpoint(resource: Resource): boolean {
  return (
    isEndpointToken(resource.type) ||
    (resource.id !== undefined && (urlsIn(resource).length > 0 || isSealed(resource)))
  );
}

function isOwn({ inputs, outputs }: Resource, { url, type }: Partial<Endpoint>, origin: Origin): boolean {
  const { baseUrl = origin.baseUrl, account = origin.account, storedAs } = outputs ?? {};
  const declared = wantedBy({ inputs: inputs ?? {}, outputs: outputs ?? {} });
  if (baseUrl === origin.baseUrl && account === origin.account) return true;
  if (declared === undefined || url === undefined || type === undefined) return true;
  return isAsRecorded({ ...declared, storedAs }, { url, type });
}

/** How deep a resource's properties are searched. */
const DEEPEST = 5;

/** Returns the urls that a resource holds in plain text. */
function urlsIn({ inputs, outputs }: Resource): string[] {
  return stringsIn([inputs, outputs]).filter((each) => /^https?:/i.test(each));
}

function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > DEEPEST) return [];
  return Object.values(value).flatMap((each) => stringsIn(each, depth + 1));
}

/** Returns whether a resource is a dynamic one that holds a secret, which `pulumi stack export` prints as an object with its ciphertext. */
function isSealed({ type, inputs, outputs }: Resource): boolean {
  return DYNAMIC.test(type) && hasCiphertext([inputs, outputs]);
}

function hasCiphertext(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return false;
  return "ciphertext" in value || Object.values(value).some((each) => hasCiphertext(each, depth + 1));
}

function isOf(resource: Resource, { wanted, urns, origin }: EvidenceQuery): boolean {
  if (providerNameOf(resource) !== origin.provider) return false;
  const recordedAt = resource.outputs?.baseUrl ?? origin.baseUrl;
  if (recordedAt !== origin.baseUrl) return false;
  const declared = wantedBy(resource);
  return declared === undefined ? urns.includes(resource.urn) : keyOf(declared) === keyOf(wanted);
}
