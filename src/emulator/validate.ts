import { isIP } from "node:net";
import { isUrl } from "../isUrl";
import type { EndpointInput } from "./endpoint";

/** A valid registration, or the reason why the service refuses it. */
export type Validated = { readonly input: EndpointInput } | { readonly problem: string };

/** Validates the body of a registration. Unknown members are ignored. */
export function validateRegistration(body: unknown): Validated {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { problem: "The body must be a JSON object with url and type." };
  }
  const { url, type, ip } = body as Record<string, unknown>;
  if (typeof url !== "string" || !isHttpUrl(url))
    return { problem: "url must be an absolute http or https URL." };
  if (type !== "production" && type !== "development") {
    return { problem: 'type must be "production" or "development".' };
  }
  if (ip === undefined) return { input: { url, type } };
  if (typeof ip !== "string" || !isAddressFilter(ip)) {
    return { problem: "ip must be an IPv4 or IPv6 address or a CIDR range." };
  }
  return { input: { url, type, ip } };
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && isUrl(text);
}

function isAddressFilter(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
