import type { Dispatcher } from "undici";
import { EnvHttpProxyAgent } from "undici";
import { isLoopback } from "./baseUrl";
import type { ResolvedOptions } from "./options";
import { WebhookError } from "./webhookError";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The way to the network: direct, or through the proxy that the environment names, in either case of its variables, as
 * undici's EnvHttpProxyAgent reads them. Plain http to this machine takes no proxy on another one: the key would
 * travel there in plain text.
 *
 * @throws WebhookError `INVALID_OPTION` for a proxy that is no URL; its text is not repeated, it may hold a password.
 */
export function openDispatcher(
  { baseUrl, maxConcurrency, timeoutMs }: ResolvedOptions,
  env: Environment,
): Dispatcher {
  const proxy = chooseProxy(baseUrl, env);
  return new EnvHttpProxyAgent({
    connections: maxConcurrency,
    // Nobody waits longer for a connection; without this it would keep the process alive.
    connect: { timeout: Math.min(10_000, timeoutMs) },
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy: env.no_proxy ?? env.NO_PROXY ?? "",
  });
}

function chooseProxy(baseUrl: URL, env: Environment): string {
  const forHttp = env.http_proxy ?? env.HTTP_PROXY;
  const value = (baseUrl.protocol === "https:" ? (env.https_proxy ?? env.HTTPS_PROXY) : undefined) || forHttp;
  if (!value) return "";
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text) || !/^(https?|socks5?):/i.test(text)) {
    throw new WebhookError(
      "Cannot make a webhooks client: HTTPS_PROXY or HTTP_PROXY in the environment is not the URL of a proxy",
      { code: "INVALID_OPTION" },
    );
  }
  return baseUrl.protocol === "http:" && !isLoopback(new URL(text).hostname) ? "" : text;
}
