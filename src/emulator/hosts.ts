import type { IncomingMessage } from "node:http";

/** Loopback names and addresses, as a client writes them in the Host header. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/** Returns whether a request names this machine by a loopback name or address. */
export function isLoopbackHost({ headers }: IncomingMessage): boolean {
  return LOOPBACK.test(nameIn(headers.host));
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
