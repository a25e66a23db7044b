import { WebhookError } from "./webhookError";

const loopback =
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/i;

/** Whether a host, as `URL` spells it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return loopback.test(hostname);
}

/** The base URL without a slash at its end. @throws WebhookError `INVALID_OPTION`, which does not repeat it. */
export function checkBaseUrl(text: unknown): URL {
  if (typeof text !== "string" || !/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    throw invalid('must be an absolute URL that begins with "https://" (or "http://" for this machine)');
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw invalid("must not contain a user name or password; the API key is a setting of its own");
  }
  if (/[?#]/.test(text)) throw invalid("must not contain a query or a fragment");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw invalid('must begin with "https://": plain http would show the API key to everybody on the way');
  }
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

function invalid(what: string): WebhookError {
  return new WebhookError(`Cannot make a webhooks client: baseUrl ${what}`, { code: "INVALID_OPTION" });
}
