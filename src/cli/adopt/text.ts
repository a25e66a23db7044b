import type { Endpoint, EndpointList } from "../../client";
import { hashOf } from "../../settlement/files";
import { NATIVE_TYPE_TOKEN } from "../../shared/permanent";
import { isUrl } from "../../shared/url";
import { printableJson } from "../printable";

/** How long a name made from a host may be, in characters. */
const MAX_LENGTH = 40;
/** How much of a hash tells two files or two endpoints apart, in characters. */
const HASH_LENGTH = 8;

/** An endpoint and the name of the resource that takes it over. */
export interface Adoption {
  readonly name: string;
  readonly endpoint: Endpoint;
}

/**
 * Returns TypeScript program text. Its next `up` adopts the endpoints. It also compiles at the end of a program that imports
 * `WebhookEndpoint` itself, or to which such text for other endpoints was appended before.
 */
export function programText(adoptions: readonly Adoption[]): string {
  const alias = `Adopted_${hashOf(...adoptions.map(({ endpoint }) => endpoint.id)).slice(0, HASH_LENGTH)}`;
  const declarations = adoptions.map(
    ({ name, endpoint: { id, url, type } }) => `
new ${alias}(${printableJson(name)}, {
  url: ${printableJson(url)},
  type: ${printableJson(type)},
  adoptId: ${printableJson(id)},
});
`,
  );
  const comment = `// For one stack only, because \`pulumi destroy\` deletes what the stack has adopted: see pulumi.getStack().\n`;
  return `import { WebhookEndpoint as ${alias} } from "pulumi-webhook-endpoints";\n${comment}${declarations.join("")}`;
}

/** Returns a file for `pulumi import --file` with the native plugin. */
export function importFile(adoptions: readonly Adoption[]): string {
  const resources = adoptions.map(({ name, endpoint: { id } }) => ({ type: NATIVE_TYPE_TOKEN, name, id }));
  return `${printableJson({ resources }, 2)}\n`;
}

/**
 * Returns a function that names resources after the host of an endpoint's url. The rest of a url may hold a token, and names
 * stand in messages and in the state. If several endpoints have one host, a piece of the id's hash tells them apart, so that the code
 * for each can be written before a state has the others.
 *
 * @param taken the names that the program has already
 * @param endpoints those that may be adopted, now or later
 */
export function namer(
  taken: Iterable<string>,
  { endpoints, complete }: Pick<EndpointList, "endpoints" | "complete">,
): (endpoint: Pick<Endpoint, "id" | "url">) => string {
  const used = new Set(taken);
  const shared = new Set<string>();
  const bases = new Set<string>();
  for (const base of endpoints.map(baseOf)) {
    if (bases.has(base)) shared.add(base);
    bases.add(base);
  }
  return (endpoint) => {
    const base = baseOf(endpoint);
    const hash = hashOf(endpoint.id);
    let name = complete && !shared.has(base) ? base : `${base}-${hash.slice(0, HASH_LENGTH)}`;
    for (let length = HASH_LENGTH; used.has(name); length++) name = `${base}-${hash.slice(0, length)}`;
    used.add(name);
    return name;
  };
}

function baseOf({ url }: Pick<Endpoint, "url">): string {
  return slugOf(isUrl(url) ? new URL(url).hostname : "") || "endpoint";
}

/** Returns a host as a name that begins with a letter, so that generated code can use it as an identifier. */
function slugOf(host: string): string {
  const slug = host
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
  return /^[0-9]/.test(slug) ? `endpoint-${slug}` : slug;
}
