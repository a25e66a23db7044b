import type { Endpoint } from "../client";
import { AFTER_INPUT, isEndpointToken, type Origin, type PendingRegistration } from "../shared/permanent";
import { isDefaultProvider, nameOf } from "../shared/urn";
import type { Evidence, Wanted } from "./decide";
import { isPendingId, keyOf } from "./identity";

type Properties = Readonly<Record<string, unknown>>;

/** A resource as `pulumi stack export` prints it. */
export interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  /** The provider's URN and id, joined by "::". */
  readonly provider?: string;
  /** Set on what a replacement left behind: the next `up` deletes it. */
  readonly delete?: boolean;
  /** Set on what a program only reads. */
  readonly external?: boolean;
}

/** A stack's state, as `pulumi stack export` prints it. */
export interface Deployment {
  readonly resources?: readonly Resource[];
  /** Operations that no run has finished. They outlive the run that heals them (engine rule 48). */
  readonly pending_operations?: readonly { readonly type: string; readonly resource: Resource }[];
}

/** Whose evidence is wanted: that of an endpoint of one provider, and of the resources that declare it. */
export interface EvidenceQuery {
  readonly wanted: Wanted;
  /** A url that the state encrypts is compared by the resource's name. */
  readonly names: readonly string[];
  readonly origin: Origin;
}

/** A stack's state at one moment: who has an endpoint, and what may have registered one without a response. */
export class StackState {
  readonly #deployment: Deployment;
  /** The resources of the stack that have an endpoint, by its id, whatever their provider. */
  readonly #byId = new Map<string, Resource[]>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    for (const resource of this.endpoints) {
      const { id = "" } = resource;
      this.#byId.set(id, [...(this.#byId.get(id) ?? []), resource]);
    }
  }

  /** The endpoints in the state, pending ones and those that the next `up` deletes included. */
  get endpoints(): readonly Resource[] {
    return (this.#deployment.resources ?? []).filter(
      ({ type, external }) => isEndpointToken(type) && !external,
    );
  }

  /**
   * Returns whether a resource of the stack has an endpoint of today's account. Ids may count for each account, so what was recorded with
   * another base URL or key must have its url and type, too.
   */
  has({ id, url, type }: Pick<Endpoint, "id"> & Partial<Endpoint>, origin: Origin): boolean {
    return (this.#byId.get(id) ?? []).some((resource) => {
      const { baseUrl = origin.baseUrl, account = origin.account } = resource.outputs ?? {};
      const declared = wantedBy(resource);
      if (baseUrl === origin.baseUrl && account === origin.account) return true;
      if (declared === undefined || url === undefined || type === undefined) return true;
      return keyOf(declared) === keyOf({ url, type });
    });
  }

  /** Returns whether a resource of this name and provider has an endpoint. */
  hasEndpointNamed(name: string, { provider }: Origin): boolean {
    return this.endpoints.some(
      (each) =>
        nameOf(each.urn) === name &&
        providerNameOf(each) === provider &&
        !isPendingId(each.id ?? "") &&
        each.delete !== true,
    );
  }

  /** The pending resources and the interrupted creations: the registrations that got no response. */
  get unanswered(): readonly Resource[] {
    return [...this.endpoints.filter(({ id = "" }) => isPendingId(id)), ...this.interrupted];
  }

  /** Returns what may have registered what is wanted. */
  evidence(query: EvidenceQuery): Evidence[] {
    return this.unanswered.filter((each) => isOf(each, query)).map(evidenceOf);
  }

  /**
   * The creations that killed runs left. Those that adopt do not count, because nothing was registered, and neither do those whose resource
   * was recorded after they began. Two kills leave two operations of one URN.
   */
  get interrupted(): readonly Resource[] {
    return this.#creations
      .filter(({ inputs }) => inputs?.adoptId === undefined)
      .filter((operation) => !this.#isRecordedSince(operation));
  }

  /** Returns how many creations of endpoints with one of these names and this `__after` have not ended. */
  countCreations(names: readonly string[], after: number | undefined): number {
    return this.#creations.filter((each) => names.includes(nameOf(each.urn)) && afterOf(each) === after)
      .length;
  }

  get #creations(): readonly Resource[] {
    return (this.#deployment.pending_operations ?? [])
      .filter(({ type, resource }) => type === "creating" && isEndpointToken(resource.type))
      .map(({ resource }) => resource);
  }

  #isRecordedSince(operation: Resource): boolean {
    return this.endpoints.some((recorded) => {
      if (recorded.urn !== operation.urn || providerNameOf(recorded) !== providerNameOf(operation))
        return false;
      const [began, after] = [afterOf(operation), afterOf(recorded)];
      if (began !== undefined) return after !== undefined && after >= began;
      // Nothing dates what the native plugin began: what is recorded as it was to be made counts as made by it.
      const [one, other] = [wantedBy(operation), wantedBy(recorded)];
      return one === undefined || other === undefined || keyOf(one) === keyOf(other);
    });
  }
}

/** Returns the url, type and ip of a resource or an interrupted creation; undefined if the state encrypts them. */
export function wantedBy({ inputs, outputs }: Resource): Wanted | undefined {
  const { url, type, ip = null } = { ...inputs, ...outputs };
  if (typeof url !== "string" || (type !== "production" && type !== "development")) return undefined;
  return { url, type, ip: typeof ip === "string" ? ip : null };
}

/** Returns the name of a resource's WebhooksProvider; undefined for the default provider. */
export function providerNameOf({ provider = "" }: Pick<Resource, "provider">): string | undefined {
  const name = nameOf(provider.slice(0, provider.lastIndexOf("::")));
  return isDefaultProvider(name) || name === "" ? undefined : name;
}

/** Returns what a pending resource or an interrupted creation says of its registration. */
export function evidenceOf(resource: Partial<Resource>): Evidence {
  const { id = "", urn = "", inputs, outputs } = resource;
  const { before, attemptedAt } = (outputs?.pending ?? {}) as Partial<PendingRegistration>;
  const { ip = null } = { ...inputs, ...outputs };
  const isPending = isPendingId(id);
  const sentAt = isPending ? attemptedAt : afterOf(resource);
  return {
    id: isPending ? id : urn,
    ip: isText(ip) ? ip : undefined,
    serviceSentAt: typeof sentAt === "number" ? sentAt : undefined,
    before: Array.isArray(before) ? before : [],
  };
}

function isOf(resource: Resource, { wanted, names, origin }: EvidenceQuery): boolean {
  if (providerNameOf(resource) !== origin.provider) return false;
  const recordedAt = resource.outputs?.baseUrl ?? origin.baseUrl;
  if (recordedAt !== origin.baseUrl) return false;
  const declared = wantedBy(resource);
  return declared === undefined ? names.includes(nameOf(resource.urn)) : keyOf(declared) === keyOf(wanted);
}

function afterOf({ inputs }: Partial<Resource>): number | undefined {
  const after = inputs?.[AFTER_INPUT];
  return typeof after === "number" ? after : undefined;
}

function isText(value: unknown): value is string | null {
  return typeof value === "string" || value === null;
}
