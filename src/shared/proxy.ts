import { CodedError } from "./codedError";
import { isUrl } from "./url";

/** The environment names a proxy that is none. The message omits it, because it may hold a password. */
export class ProxyError extends CodedError<"INVALID_OPTION"> {
  constructor() {
    super(
      "INVALID_OPTION",
      "HTTPS_PROXY or HTTP_PROXY in the environment is not the URL of a proxy. Set it to a URL such as " +
        "http://proxy.example.com:8080, or remove it",
    );
  }
}

/**
 * Returns the URL of the proxy that the environment names for a protocol, in either case of its variables; an empty string for none.
 * Without a scheme, it is http.
 *
 * @throws ProxyError
 */
export function proxyFor(protocol: string, env: Readonly<Record<string, string | undefined>>): string {
  const forHttp = env.http_proxy ?? env.HTTP_PROXY;
  const value = (protocol === "https:" ? (env.https_proxy ?? env.HTTPS_PROXY) : undefined) || forHttp;
  if (!value) return "";
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (isUrl(url) && /^(https?|socks5?):/i.test(url)) return url;
  throw new ProxyError();
}
