import { setMaxListeners } from "node:events";
import type { LookupFunction } from "node:net";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { CodedError } from "./codedError";
import { isLoopback } from "./url";

/** The environment names a proxy whose URL is invalid. The message omits it, because it may hold a password. */
class ProxyError extends CodedError<"INVALID_OPTION"> {
  constructor() {
    super(
      "INVALID_OPTION",
      "HTTPS_PROXY or HTTP_PROXY in the environment is not the URL of a proxy. Set it to a URL such as " +
        "http://proxy.example.com:8080, or remove it. In a user name and a password, encode special characters: %40 for @, %23 for #, " +
        "%2F for /, %25 for %",
    );
  }
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Finds this machine. Whoever answers for `localhost` elsewhere, such as a name server, would get what is sent in plain http. */
const lookUpLoopback: LookupFunction = (_hostname, { all, family }, found) => {
  const both = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  const [first = { address: "127.0.0.1", family: 4 }] = both.filter(
    (each) => !family || each.family === family,
  );
  if (all) found(null, both);
  else found(null, first.address, first.family);
};

/**
 * Returns undici's way to a URL: through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, in either case.
 * This machine is always reached directly, without asking for its address.
 *
 * @param closed ends connection attempts, which undici's `destroy` leaves alone: each would keep the process alive
 * @throws ProxyError
 */
export function openDispatcher(url: string, closed?: AbortSignal): Dispatcher {
  const connect = { timeout: CONNECT_TIMEOUT_MS, ...(closed && { signal: closed }) };
  // Each connection listens to the signal: Node.js must not warn of a leak.
  if (closed) setMaxListeners(0, closed);
  if (isLoopback(new URL(url).hostname))
    return new Agent({ connect: { ...connect, lookup: lookUpLoopback } });
  const { env } = process;
  try {
    return new EnvHttpProxyAgent({
      connect,
      proxyTls: connect,
      requestTls: connect,
      httpProxy: proxyUrl(env.http_proxy || env.HTTP_PROXY),
      httpsProxy: proxyUrl(env.https_proxy || env.HTTPS_PROXY),
    });
  } catch {
    throw new ProxyError();
  }
}

/** Returns the URL of a proxy, which the environment may name without a scheme, as curl accepts it. */
function proxyUrl(named = ""): string {
  return named === "" || named.includes("://") ? named : `http://${named}`;
}
