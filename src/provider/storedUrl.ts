import type { Endpoint } from "../client";
import { describeUrl, sameUrl } from "../shared/url";
import { commandLine } from "../shared/words";
import type { Memory } from "./memory";

/**
 * Returns a warning if the service stores another url than the declared one: each `pulumi up --refresh` would replace the endpoint.
 * Shows the stored url, unless the declared one is a secret; its query may hold a token.
 */
export function otherSpellingWarning(
  declared: string,
  { id, url }: Endpoint,
  memory: Memory,
): string | undefined {
  if (sameUrl(declared, url)) return undefined;
  return (
    `the service stores ${shownStored(declared, { id, url }, memory)} for endpoint ${id}, which was declared as ${describeUrl(declared)} in ` +
    "another spelling. A refresh takes that for drift, so each `pulumi up --refresh` would replace the endpoint. Ways on:\n" +
    "- Declare the url as the service stores it.\n" +
    '- Or set the resource option ignoreChanges: ["url"].'
  );
}

/** Returns the url that the service stores for what a resource declares, as a message may show it. */
export function shownStored(
  declared: string,
  { id, url }: Pick<Endpoint, "id" | "url">,
  memory: Memory,
): string {
  const isSecret = memory.isSecretUrl(declared) || memory.isSecretUrl(url);
  return isSecret ? `another url (${commandLine("get", id)} shows it)` : url.replace(/\?.*$/s, "?…");
}
