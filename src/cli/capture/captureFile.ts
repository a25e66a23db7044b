import { isUtf8 } from "node:buffer";
import type { HeadersLike } from "../../signature/headers";
import type { HeaderPair } from "./headerPair";

/** The headers of a delivery: those that a receiver needs to verify it and to read its body. */
const DELIVERED = /^(webhook-.+|content-type|content-encoding|user-agent)$/i;
/** Other headers that tell how a request arrived. Any other may hold a credential, whatever its name: proxies pass whole urls on. */
const HARMLESS = /^(host|content-length|transfer-encoding|date)$/i;

/** What a capture says of a request: everything that verifies it, or sends it again. */
export interface RequestData {
  readonly headers: readonly HeaderPair[];
  readonly body: string;
  /** True if the body is in base64, because it is not UTF-8. */
  readonly isBase64Encoded: boolean;
}

/** Returns a request as JSON holds it, with the harmless headers alone, because captures are shared. */
export function dataOfRequest(headers: HeadersLike, body: Uint8Array): RequestData {
  const isBase64Encoded = !isUtf8(body);
  return {
    headers: pairsOf(headers).filter(([name]) => DELIVERED.test(name) || HARMLESS.test(name)),
    body: Buffer.from(body).toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}

/** Returns every header that has a value. One that was sent twice is there twice. */
export function pairsOf(headers: HeadersLike): HeaderPair[] {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return entries.flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const));
}

/** Returns the headers to send a delivery on with. One that is there twice is sent twice, as receivers refuse it. */
export function deliveryHeaders(headers: readonly HeaderPair[]): Record<string, string[]> {
  const kept: Record<string, string[]> = {};
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    if (DELIVERED.test(name)) kept[name] = [...(kept[name] ?? []), value];
  }
  return kept;
}
