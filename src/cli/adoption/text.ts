import type { Endpoint } from "../../client";
import { NATIVE_TYPE_TOKEN } from "../../shared/permanent";
import { printableJson } from "../printable";

/** An endpoint and the name of the resource that takes it over. */
export interface Adoption {
  readonly name: string;
  readonly endpoint: Endpoint;
}

/** Returns TypeScript program text. Its next `up` adopts the endpoints. */
export function programText(adoptions: readonly Adoption[]): string {
  const declarations = adoptions.map(
    ({ name, endpoint: { id, url, type } }) => `
new WebhookEndpoint(${printableJson(name)}, {
  url: ${printableJson(url)},
  type: ${printableJson(type)},
  adoptId: ${printableJson(id)},
});
`,
  );
  return `import { WebhookEndpoint } from "pulumi-webhook-endpoints";\n${declarations.join("")}`;
}

/** Returns a file for `pulumi import --file` with the native plugin. */
export function importFile(adoptions: readonly Adoption[]): string {
  const resources = adoptions.map(({ name, endpoint: { id } }) => ({ type: NATIVE_TYPE_TOKEN, name, id }));
  return `${printableJson({ resources }, 2)}\n`;
}
