import { BlockList, isIP } from "node:net";

import { foreign } from "./escape";

/**
 * Returns whether a string is a url. Not `URL.canParse`: once a function that calls it is optimized, Node.js 20 denies every url with a
 * letter such as ü.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}

/** Returns a service's base URL as requests begin with it: as `URL` spells it, without a slash at its end. It stands so in users' state. */
export function normalizeBaseUrl(baseUrl: string): string {
  return new URL(baseUrl).href.replace(/\/+$/, "");
}

/** Returns whether a value is an absolute http or https url that names a host. */
export function isHttpUrl(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\/[^/?#]/i.test(value) && isUrl(value);
}

/** Returns what is wrong with a receiver's url, in words that do not repeat it; undefined when it can be used. */
export function problemOfReceiverUrl(url: unknown): string | undefined {
  if (url === undefined) return "is missing";
  if (!isHttpUrl(url)) return 'must be an absolute URL that begins with "https://" or "http://"';
  const { username, password } = new URL(url);
  return username === "" && password === "" ? undefined : "must not contain a user name or password";
}

/**
 * Returns a url in the spelling that a service may normalize it to: case of scheme and host, default port, an empty path's
 * slash, and percent-encoding (RFC 3986, 6.2.2 and 6.2.3).
 */
export function normalizeUrl(url: string): string {
  if (!isUrl(url)) return url;
  const { href, host } = new URL(url);
  const start = href.indexOf(host) + host.length;
  // `URL` leaves some characters as they are that no path or query may have.
  const rest = href.slice(start).replace(/%[0-9a-f]{2}|[|^`{}[\]]/gi, (part) => {
    const code = part.length > 1 ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0);
    const character = String.fromCharCode(code);
    return /[A-Za-z0-9._~-]/.test(character)
      ? character
      : `%${code.toString(16).padStart(2, "0").toUpperCase()}`;
  });
  return href.slice(0, start) + rest;
}

/** Returns whether two urls differ in spelling at most. */
export function sameUrl(a: string, b: string): boolean {
  return a === b || normalizeUrl(a) === normalizeUrl(b);
}

/** Returns a url as messages show it: only scheme and host, because path and query may hold a token. */
export function describeUrl(url: string): string {
  if (!isUrl(url)) return "(not a url)";
  const { protocol, host } = new URL(url);
  return `${foreign(`${protocol}//${host}`)}/…`;
}

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/i;

/** Returns whether a host, in the spelling of `URL`, is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

const PRIVATE_RANGES =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 ::/127 fc00::/7 fe80::/10";
const privateAddresses = new BlockList();
for (const range of PRIVATE_RANGES.split(" ")) {
  const [network = "", prefix] = range.split("/");
  privateAddresses.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4");
}

/** Returns whether only this machine or one network knows a url's host, so that a service on the internet cannot reach it. */
export function isUnreachableHost(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  if (family !== 0) return privateAddresses.check(host, family === 4 ? "ipv4" : "ipv6");
  return !host.includes(".") || /\.(internal|local|localhost)$/.test(host);
}

/** What a program leaves where the host of a url belongs: a value that is missing or no number, or a second scheme. */
const MISTAKEN_HOST = /^(undefined|null|nan|https?)$/;

/** Returns what is wrong with a host that a program made by mistake, as the end of a sentence such as "url …". */
export function hostMistake(url: string): string | undefined {
  const host = isUrl(url) ? new URL(url).hostname : "";
  if (!MISTAKEN_HOST.test(host)) return undefined;
  return `has the host "${host}": a value that it is built from is missing, or it has two schemes`;
}

/** Returns whether a value is an IPv4 or IPv6 address, without a zone, or a CIDR range of them. */
export function isAddressOrRange(value: unknown): value is string {
  if (typeof value !== "string") return false;
  const [address = "", prefix, ...rest] = value.split("/");
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const prefixFits = prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
  return bits > 0 && !address.includes("%") && prefixFits && rest.length === 0;
}
