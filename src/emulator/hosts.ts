import type { IncomingMessage } from "node:http";
import { isLoopback } from "../shared/url";

/** Returns whether a request names this machine by a loopback name or address. */
export function isLoopbackHost({ headers }: IncomingMessage): boolean {
  return isLoopback(nameIn(headers.host));
}

/**
 * Returns whether a request names a host that is the emulator's own: a loopback name, one of `names`, or the address that the
 * connection came in at. A web page whose site rebinds its name to this machine sends that name.
 */
export function isOwnHost(request: IncomingMessage, names: readonly string[]): boolean {
  const name = nameIn(request.headers.host).toLowerCase();
  const address = request.socket.localAddress?.replace(/^::ffff:/, "") ?? "";
  const own = [...names.map((each) => each.toLowerCase()), address.includes(":") ? `[${address}]` : address];
  return isLoopbackHost(request) || (name !== "" && own.includes(name));
}

/** Returns a host without its port. */
function nameIn(host = ""): string {
  return host.replace(/:\d{1,5}$/, "");
}
