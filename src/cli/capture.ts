import * as fs from "node:fs/promises";
import { parseJson } from "../shared/json";
import { shown } from "../shared/masking";
import { CliError } from "./errors";

/** A header's name and value. One that was sent twice is there twice. */
export type HeaderPair = readonly [name: string, value: string];

/** A request as it was received. */
export interface Capture {
  readonly headers: readonly HeaderPair[];
  readonly body: Buffer;
  /** When it arrived, in unix seconds. Without it, its age does not count, because captures are old. */
  readonly receivedAt?: number;
}

/** The headers of a delivery: those that a receiver needs to verify it and to read its body. Any other may hold a credential. */
const DELIVERED = /^(webhook-.+|content-type|content-encoding|user-agent)$/i;

/** Returns the headers to send a delivery on with. */
export function deliveryHeaders(headers: readonly HeaderPair[]): Record<string, string[]> {
  const kept: Record<string, string[]> = {};
  for (const [name, value] of shareableHeaders(headers)) {
    const key = name.toLowerCase();
    kept[key] = [...(kept[key] ?? []), value];
  }
  return kept;
}

/** Returns the headers that may be saved or shown, because captures are shared. */
export function shareableHeaders(headers: readonly HeaderPair[]): HeaderPair[] {
  return headers.filter(([name]) => DELIVERED.test(name));
}

/**
 * Reads a captured delivery from a file: JSON with `headers` and `body`, such as one of `listen --save` or an event of AWS Lambda.
 *
 * @throws CliError `FILE_UNREADABLE` or `CAPTURE_INVALID`
 */
export async function readCapture(path: string): Promise<Capture> {
  const file = await fs.readFile(path, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw new CliError("FILE_UNREADABLE", `cannot read the file ${shown(path)} (${code})`);
  });
  const json: Record<string, unknown> = Object(parseJson(file.replace(/^\uFEFF/, "")));
  const { headers, body, isBase64Encoded, receivedAt } = json;
  const entries = Array.isArray(headers) ? headers : Object.entries(Object(headers));
  const pairs = entries.flatMap((entry: unknown) => {
    const [name, value] = Array.isArray(entry) ? entry : [];
    return [value].flat().map((one: unknown) => [String(name), String(one)] as const);
  });
  if (pairs.length === 0)
    throw new CliError(
      "CAPTURE_INVALID",
      `${shown(path)} holds no headers. It must be a file of \`listen --save\`, or JSON in UTF-8 with headers and body`,
    );
  const encoding = isBase64Encoded === true ? "base64" : "utf8";
  const bytes = Buffer.from(typeof body === "string" ? body : "", encoding);
  const at = Math.floor(Date.parse(String(receivedAt)) / 1000);
  return { headers: pairs, body: bytes, ...(Number.isNaN(at) ? {} : { receivedAt: at }) };
}
