const loopback =
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/i;

/** Whether a host, as `URL` spells it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return loopback.test(hostname);
}

/** What is wrong with a base URL, as the end of a sentence that begins with its name and does not repeat it. */
export function baseUrlProblem(text: unknown): string | undefined {
  if (typeof text !== "string" || !/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return 'must be an absolute URL that begins with "https://" (or "http://" for this machine)';
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password; the API key is a setting of its own";
  }
  if (/[?#]/.test(text)) return "must not contain a query or a fragment";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return 'must begin with "https://": plain http would show the API key to everybody on the way';
  }
  return undefined;
}

/** A base URL without a slash at its end. */
export function parseBaseUrl(text: string): URL {
  const url = new URL(text);
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}
