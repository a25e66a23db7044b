import type { IncomingMessage } from "node:http";
import { isLoopbackHost } from "../hosts";

const LOOPBACK_ADDRESS = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;

const ELSEWHERE = "This page is only for the machine that it runs on. Open it there, by a loopback address.";
const OTHER_SITE = "This page accepts actions only from itself.";

/**
 * Returns why a request to the page is refused, or undefined. The connection must come from this machine, and the Host
 * must be a loopback name: another site that rebinds its name to this machine sends its own name. A request that changes
 * something must come from the page itself: browsers send Origin with every POST.
 */
export function refusalOf(request: IncomingMessage): string | undefined {
  const { method, headers, socket } = request;
  const { host = "", origin, "sec-fetch-site": site = "same-origin" } = headers;
  if (!LOOPBACK_ADDRESS.test(socket.remoteAddress ?? "") || !isLoopbackHost(request)) return ELSEWHERE;
  if (method === "GET" || method === "HEAD") return undefined;
  return origin === `http://${host}` && site === "same-origin" ? undefined : OTHER_SITE;
}
