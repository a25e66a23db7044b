import * as pulumi from "@pulumi/pulumi";
import { normalizeUrl } from "./url";

/** The urls that this program declared as secrets, as far as they are known. */
const secretUrls = new Set<string>();

/** Remembers a declared url if it is a secret. A query cannot wait for it: the url may depend on that query. */
export async function noteUrl(url: pulumi.Input<string> | undefined): Promise<void> {
  const declared = pulumi.output(url);
  if (!(await pulumi.isSecret(declared))) return;
  declared.apply((known) => {
    if (typeof known === "string") secretUrls.add(normalizeUrl(known));
  });
}

/** Returns whether this program declared this url, in any spelling, as a secret. */
export function isSecretUrl(url: string): boolean {
  return secretUrls.has(normalizeUrl(url));
}
