import { isEndpointToken } from "../shared/permanent";
import { isDefaultProvider, nameOf } from "../shared/urn";
import { type Identity, isProvisional, keyHash } from "./identity";

/** What `pulumi stack export` prints. */
export interface ExportedStack {
  /** Of the format. */
  readonly version?: number;
  readonly deployment: Deployment;
}

/** A stack's state. */
export interface Deployment {
  readonly resources?: readonly Resource[];
  /** Operations that no run has finished. Those of the latest run come first. */
  readonly pending_operations?: readonly Operation[];
  /** When a run last wrote the state. Commands that edit the state leave it alone. */
  readonly manifest?: { readonly time?: string };
}

export interface Operation {
  readonly type: string;
  readonly resource: Resource;
}

export interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  /** The id of what is imported. */
  readonly importID?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  /** The provider's URN and id, joined by "::". */
  readonly provider?: string;
  /** Set on what a replacement left behind: the next `up` deletes it. */
  readonly delete?: boolean;
  /** Set on what a replacement that deletes first has deleted: the next `up` creates it again. */
  readonly pendingReplacement?: boolean;
  /** When the engine created it. */
  readonly created?: string;
  /** Set on what a program only reads. */
  readonly external?: boolean;
}

export type Properties = Readonly<Record<string, unknown>>;

/** Returns the stack's own resource; undefined if the state is empty. */
export function stackIn({ resources = [] }: Deployment): Resource | undefined {
  return resources.find(({ type }) => type === "pulumi:pulumi:Stack");
}

/** Returns the endpoints in the state, also those that the next `up` deletes. */
export function endpointsIn({ resources = [] }: Deployment): Resource[] {
  return resources.filter(({ type }) => isEndpointToken(type));
}

/** Returns the endpoints in the state whose registration is pending. */
export function pendingResources(deployment: Deployment): Resource[] {
  return endpointsIn(deployment).filter(({ id }) => id !== undefined && isProvisional(id));
}

/** Returns the endpoints that some run began to register and never recorded, in the state's order (engine rule 23). */
export function interruptedRegistrations({ pending_operations = [] }: Deployment): Resource[] {
  return pending_operations
    .filter(({ type, resource }) => type === "creating" && isEndpointToken(resource.type))
    .map(({ resource }) => resource);
}

/** Returns the ids of the endpoints that some run began to import and never recorded. */
export function interruptedImports({ pending_operations = [] }: Deployment): string[] {
  return pending_operations.flatMap(({ type, resource: { importID } }) =>
    type === "importing" && importID !== undefined ? [importID] : [],
  );
}

/** Returns the url and type of a resource; undefined if the state encrypts the url, or has none. */
export function identityOf({ inputs, outputs }: Pick<Resource, "inputs" | "outputs">): Identity | undefined {
  const [url, type] = ["url", "type"].map((name) => plainText(outputs, name) ?? plainText(inputs, name));
  return url !== undefined && (type === "production" || type === "development") ? { url, type } : undefined;
}

/** Returns the hash of a resource's url and type; undefined where `identityOf` is. */
export function keyIn(resource: Pick<Resource, "inputs" | "outputs">): string | undefined {
  const identity = identityOf(resource);
  return identity && keyHash(identity);
}

/** Returns a property, decrypted if the state was exported with its secrets. */
export function plainValue(properties: Properties | undefined, name: string): unknown {
  const value = properties?.[name];
  if (typeof value !== "object" || value === null) return value;
  const { plaintext } = value as { plaintext?: unknown };
  return typeof plaintext === "string" ? JSON.parse(plaintext) : value;
}

/** Returns a string property, decrypted if the state was exported with its secrets; undefined if it is not a string. */
export function plainText(properties: Properties | undefined, name: string): string | undefined {
  const value = plainValue(properties, name);
  return typeof value === "string" ? value : undefined;
}

/** Returns whether the state encrypts the url of an endpoint, because the program declared it as a secret. */
export function isUrlSecret({ inputs, outputs }: Pick<Resource, "inputs" | "outputs">): boolean {
  return [inputs?.url, outputs?.url].some((url) => typeof url === "object" && url !== null);
}

/** Returns the name of a resource's WebhooksProvider; undefined for the default provider. */
export function providerNameOf({ provider = "" }: Pick<Resource, "provider">): string | undefined {
  const name = nameOf(provider.slice(0, provider.lastIndexOf("::")));
  return isDefaultProvider(name) ? undefined : name;
}
