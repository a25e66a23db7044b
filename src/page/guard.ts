import type { IncomingMessage } from "node:http";
import { isLoopback } from "../shared/url";

const LOOPBACK_ADDRESS = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;

/** The headers that proxies add. A proxy on this machine can have the whole world behind it. */
const FORWARDED = /^(forwarded|via|x-real-ip|x-forwarded-(for|host|proto))$/;

/**
 * Returns whether a request to the page may be served. The connection must come from this machine, and the Host must be a loopback
 * name: another site that rebinds its name to this machine sends its own name. No proxy may have forwarded it. A request that changes
 * something must come from the page itself: browsers send Origin with every POST.
 */
export function isTrusted({ method = "", headers, socket }: IncomingMessage): boolean {
  const { host = "", origin, "sec-fetch-site": site = "same-origin" } = headers;
  const isLocal =
    LOOPBACK_ADDRESS.test(socket.remoteAddress ?? "") && isLoopback(host.replace(/:\d{1,5}$/, ""));
  const isForwarded = Object.keys(headers).some((name) => FORWARDED.test(name));
  const isOwn = origin === `http://${host}` && site === "same-origin";
  return isLocal && !isForwarded && (isOwn || method === "GET" || method === "HEAD");
}
