import { normalizeUrl } from "../shared/url";

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
