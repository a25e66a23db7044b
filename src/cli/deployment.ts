import { TYPE_TOKEN } from "../endpoint/permanent";

/** What of `pulumi stack export` matters here. The rest is kept as it is. */
export interface Exported {
  readonly deployment: Deployment;
  readonly [other: string]: unknown;
}

export interface Deployment {
  readonly resources?: readonly Resource[];
  readonly pending_operations?: readonly Operation[];
  /** When the state was written. */
  readonly manifest?: { readonly time?: string };
  readonly [other: string]: unknown;
}

export interface Operation {
  readonly type: string;
  readonly resource: Resource;
}

export interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  readonly parent?: string;
  /** The provider's URN and id, joined by "::". */
  readonly provider?: string;
  readonly dependencies?: readonly string[];
  readonly propertyDependencies?: Readonly<Record<string, readonly string[]>>;
  /** To be deleted by the next `up`: what a replacement leaves of the old one. */
  readonly delete?: boolean;
  /** When the engine made it. */
  readonly created?: string;
  readonly [other: string]: unknown;
}

export type Properties = Readonly<Record<string, unknown>>;

/** Whether an operation is one that a killed run left in the middle of registering an endpoint. */
export function isPendingRegistration({ type, resource }: Operation): boolean {
  return type === "creating" && resource.type === TYPE_TOKEN;
}

/** A property as text, out of an export with its secrets shown. Undefined for what is no text. */
export function plainText(properties: Properties | undefined, name: string): string | undefined {
  const value = properties?.[name];
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return undefined;
  const { plaintext } = value as { plaintext?: unknown };
  const revealed: unknown = typeof plaintext === "string" ? JSON.parse(plaintext) : undefined;
  return typeof revealed === "string" ? revealed : undefined;
}

/** The name that the program gave a resource. */
export function nameOf(urn: string): string {
  return urn.split("::").at(-1) ?? urn;
}
