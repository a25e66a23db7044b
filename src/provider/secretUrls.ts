import type { Endpoint } from "../client";
import { describeUrl, normalizeUrl, sameUrl } from "../shared/url";
import { commandLine } from "../shared/words";

/** The urls that this program declared as secrets, as far as they are known. */
const secretUrls = new Set<string>();

/** Remembers a declared url that is a secret. */
export function noteSecretUrl(url: unknown): void {
  if (typeof url === "string") secretUrls.add(normalizeUrl(url));
}

/** Returns whether this program declared this url, in any spelling, as a secret. */
export function isSecretUrl(url: string): boolean {
  return secretUrls.has(normalizeUrl(url));
}

/**
 * Returns a warning if the service stores another url than the declared one: each `pulumi up --refresh` would replace the endpoint.
 * Shows the stored url, unless the declared one is a secret; its query may hold a token.
 */
export function otherSpellingWarning(declared: string, { id, url }: Endpoint): string | undefined {
  if (sameUrl(declared, url)) return undefined;
  return (
    `the service stores ${shownStored(declared, { id, url })} for endpoint ${id}, which was declared as ${describeUrl(declared)} in another spelling. A refresh takes ` +
    "that for drift, so each `pulumi up --refresh` would replace the endpoint. Ways on:\n" +
    "- Declare the url as the service stores it.\n" +
    '- Or set the resource option ignoreChanges: ["url"].'
  );
}

/** Returns the url that the service stores for what a resource declares, as a message may show it. */
export function shownStored(declared: string, { id, url }: Pick<Endpoint, "id" | "url">): string {
  if (isSecretUrl(declared) || isSecretUrl(url)) return `another url (${commandLine("get", id)} shows it)`;
  return url.replace(/\?.*$/s, "?…");
}
