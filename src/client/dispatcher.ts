import { setMaxListeners } from "node:events";
import type { Dispatcher } from "undici";
import { EnvHttpProxyAgent } from "undici";
import { isUrl } from "../shared/isUrl";
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

function chooseProxy(baseUrl: URL, env: Environment): string {
  const forHttp = env.http_proxy ?? env.HTTP_PROXY;
  const value = (baseUrl.protocol === "https:" ? (env.https_proxy ?? env.HTTPS_PROXY) : undefined) || forHttp;
  if (!value) return "";
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!isUrl(url) || !/^(https?|socks5?):/i.test(url)) {
    throw new WebhookError(
      "Cannot create a webhooks client: HTTPS_PROXY or HTTP_PROXY in the environment is not the URL of a proxy. " +
        "Set it to a URL such as http://proxy.example.com:8080, or remove it",
      { code: "INVALID_OPTION" },
    );
  }
  return baseUrl.protocol === "http:" && !isLoopback(new URL(url).hostname) ? "" : url;
}
