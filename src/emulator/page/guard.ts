import type { IncomingMessage } from "node:http";

/** Loopback names and addresses, as a browser writes them in the Host header. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
const LOOPBACK_ADDRESS = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;

const ELSEWHERE =
  "The emulator's page is only for the machine that it runs on. Open it there, by a loopback address.";
const OTHER_SITE = "The emulator's page accepts actions only from itself.";

/**
 * Returns why a request to the page is refused, or undefined. The connection must come from this machine, and the Host
 * must be a loopback name: another site that rebinds its name to this machine sends its own name. A request that changes
 * something must come from the page itself: browsers send Origin with every POST.
 */
export function refusalOf({ method, headers, socket }: IncomingMessage): string | undefined {
  const { host = "", origin, "sec-fetch-site": site = "same-origin" } = headers;
  if (!LOOPBACK_ADDRESS.test(socket.remoteAddress ?? "") || !LOOPBACK_HOST.test(host)) return ELSEWHERE;
  if (method === "GET" || method === "HEAD") return undefined;
  return origin === `http://${host}` && site === "same-origin" ? undefined : OTHER_SITE;
}
