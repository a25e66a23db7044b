import { setMaxListeners } from "node:events";
import { type Dispatcher, EnvHttpProxyAgent } from "undici";
import { ProxyError, proxyFor } from "../shared/proxy";
import { isLoopback } from "../shared/url";
import { WebhookError } from "./errors";
import type { ResolvedOptions } from "./options";

type Environment = Readonly<Record<string, string | undefined>>;

interface DispatcherSurroundings {
  /** The environment variables that name proxies. */
  readonly env: Environment;
  /** Ends connection attempts, which undici's `destroy` leaves alone. */
  readonly closed: AbortSignal;
}

/**
 * Returns undici's way to the network: direct, or through the proxy that the environment names, in either case of its
 * variables. Plain http to this machine never uses a proxy on another machine: the key would be readable on the way.
 *
 * @throws WebhookError `INVALID_OPTION` for a proxy that is not a URL; the message omits it, because it may hold a password
 */
export function openDispatcher(
  { baseUrl, maxConcurrency, timeoutMs }: ResolvedOptions,
  { env, closed }: DispatcherSurroundings,
): Dispatcher {
  const proxy = chooseProxy(baseUrl, env);
  // Each connection listens to the signal: Node.js must not warn of a leak.
  setMaxListeners(0, closed);
  // No attempt waits longer for a connection; without this limit it would keep the process alive.
  const connect = { timeout: Math.min(10_000, timeoutMs), signal: closed };
  return new EnvHttpProxyAgent({
    connections: maxConcurrency,
    connect,
    proxyTls: connect,
    requestTls: connect,
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
  });
}

function chooseProxy({ protocol }: URL, env: Environment): string {
  try {
    const url = proxyFor(protocol, env);
    return protocol === "http:" && url !== "" && !isLoopback(new URL(url).hostname) ? "" : url;
  } catch (error) {
    if (!(error instanceof ProxyError)) throw error;
    throw new WebhookError(`Cannot create a webhooks client: ${error.reason}`, { code: error.code });
  }
}
