import { foreign } from "./escape";
import { joined } from "./words";

/** The engine's own provider is named `default`, or `default` and its version. */
const DEFAULT_PROVIDER = /^default(_\d+_\d+_\d+\w*)?$/;

/** The organization of every stack in a backend of one's own, such as a folder or a bucket. */
export const SELF_MANAGED = "organization";

/** Returns the name that the program gave a resource. */
export function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::") || urn;
}

/** Returns the type of a resource, without those of its parents. */
export function typeOf(urn: string): string {
  return urn.split("::")[2]?.split("$").at(-1) ?? "";
}

/** Returns the names of resources, for a message. */
export function namesOf(resources: readonly { readonly urn: string }[]): string {
  return joined(resources.map(({ urn }) => nameOf(urn)));
}

/** Returns the stack and the project of a resource. */
export function stackOf(urn: string): { readonly stack: string; readonly project: string } {
  const [stack = "", project = ""] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, project };
}

/** Describes a resource by its name, its project and its stack, and by the stack's organization if that is given. */
export function describeResource({ urn }: { readonly urn: string }, organization?: string): string {
  const { project, stack } = stackOf(urn);
  const place = organization === undefined ? [project, stack] : [organization, project, stack];
  return `${foreign(nameOf(urn))} in ${place.map(foreign).join("/")}`;
}

/** Returns whether a provider of this name is the engine's own, which no program declared. */
export function isDefaultProvider(name: string): boolean {
  return DEFAULT_PROVIDER.test(name);
}
