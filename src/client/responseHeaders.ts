import type { ListContext } from "./parseList";

/** Headers of a response, names in lower case, as undici gives them. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The first value of a header. */
export function first(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The service's clock when it answered, in milliseconds since 1970; null where its `Date` cannot be read. */
export function serverTime(headers: ResponseHeaders): number | null {
  const time = Date.parse(first(headers, "date") ?? "");
  return Number.isNaN(time) ? null : time;
}

/** One link of a `Link` header (RFC 8288), and one of its parameters: commas and semicolons may stand in quotes. */
const link = /<[^>]*>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g;
const parameter = /;\s*([^\s=;,"]+)(?:\s*=\s*(?:"([^"]*)"|([^\s;,"]*)))?/g;

export function listContext(headers: ResponseHeaders): ListContext {
  const header = [headers.link ?? []].flat().join(", ");
  return {
    linksToNext: [...header.matchAll(link)].some(([, parameters]) =>
      /(^|\s)next(\s|$)/i.test(relation(parameters)),
    ),
    serverTime: serverTime(headers),
  };
}

function relation(parameters = ""): string {
  const found = [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === "rel");
  return found?.[2] ?? found?.[3] ?? "";
}
