/**
 * Returns whether a string is a url. Not `URL.canParse`: once a function that calls it is optimized, Node.js 20 denies every url with a
 * letter such as ü.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a value is an absolute http or https url that names a host. */
export function isHttpUrl(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\/[^/?#]/i.test(value) && isUrl(value);
}
