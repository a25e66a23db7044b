import type { Endpoint } from "../../client";
import { commandLine } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { describeUrl, sameUrl } from "../../shared/url";
import type { Declarations } from "../facts/declarations";

/** Returns a warning if the service stores another url than the declared one. Shows that, unless the declared one is a secret. */
export function otherSpellingWarning(
  declared: string,
  { id, url }: Endpoint,
  declarations: Declarations,
): string | undefined {
  if (sameUrl(declared, url)) return undefined;
  return (
    `the service stores ${shownStored(declared, { id, url }, declarations)} for endpoint ${foreign(id)}, which was declared as ${describeUrl(declared)} in ` +
    "another spelling. Its deliveries go there. If that is not the same place, declare the url as the service stores it."
  );
}

/** Returns the url that the service stores for what a resource declares, as a message may show it. */
export function shownStored(
  declared: string,
  { id, url }: Pick<Endpoint, "id" | "url">,
  declarations: Declarations,
): string {
  const isSecret = declarations.isSecretUrl(declared) || declarations.isSecretUrl(url);
  return isSecret ? `another url (${commandLine("get", id)} shows it)` : foreign(url.replace(/\?.*$/s, "?…"));
}
