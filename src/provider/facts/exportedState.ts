import { type EndpointType, isEndpointType } from "../../shared/endpointType";
import { isPendingId } from "../../shared/permanent";
import { isDefaultProvider, nameOf } from "../../shared/urn";

/** Properties of a resource or of a provider. */
export type Properties = Readonly<Record<string, unknown>>;

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
  /** Set on what was deleted already, and waits for its replacement. */
  readonly pendingReplacement?: boolean;
  /** Set on what a program only reads. */
  readonly external?: boolean;
}

/** Whether a replacement has deleted what a resource had, or is to delete it. */
export function isReplaced({ delete: isLeaving = false, pendingReplacement = false }: Resource): boolean {
  return isLeaving || pendingReplacement;
}

/** Whether a resource of this package has an endpoint that stays: its registration was answered, and it is not replaced. */
export function hasEndpoint(resource: Resource): boolean {
  return !isPendingId(resource.id ?? "") && !isReplaced(resource);
}

/** A stack's state, as `pulumi stack export` prints it. */
export interface Deployment {
  readonly resources?: readonly Resource[];
  /** Operations that no run has finished. They outlive the run that heals them (engine rule 48). */
  readonly pending_operations?: readonly { readonly type: string; readonly resource: Resource }[];
}

/** What a resource is to get: an endpoint with this url, type and ip. */
export interface Wanted {
  readonly url: string;
  readonly type: EndpointType;
  readonly ip?: string | null | undefined;
}

/** Returns the url, type and ip of a resource or an interrupted creation; undefined if the state encrypts url or type. An encrypted ip counts as none. */
export function wantedBy({ inputs, outputs }: Partial<Resource>): Wanted | undefined {
  const { url, type, ip = null } = { ...inputs, ...outputs };
  if (typeof url !== "string" || !isEndpointType(type)) return undefined;
  return { url, type, ip: typeof ip === "string" ? ip : null };
}

/** Returns the name of a resource's WebhooksProvider; undefined for the default provider. */
export function providerNameOf({ provider = "" }: Pick<Resource, "provider">): string | undefined {
  const name = nameOf(provider.slice(0, provider.lastIndexOf("::")));
  return isDefaultProvider(name) || name === "" ? undefined : name;
}
