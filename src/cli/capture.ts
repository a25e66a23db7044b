import * as fs from "node:fs/promises";
import { type Capture, captureOfJson, type HeaderPair } from "../shared/captureFile";
import { isRecord, parseJson } from "../shared/json";
import { shown } from "../shared/masking";
import { CliError } from "./errors";

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
 * Reads a captured delivery from a file: JSON with `headers` and `body`, such as one of `listen --save` or an event of AWS Lambda, or a
 * request as it was sent, with a blank line between its headers and its body.
 *
 * @throws CliError `FILE_UNREADABLE` or `CAPTURE_INVALID`
 */
export async function readCapture(path: string): Promise<Capture> {
  const file = await fs.readFile(path).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CliError("FILE_UNREADABLE", `cannot read the file ${shown(path)} (${code})`);
  });
  if (file[0] === 0xff && file[1] === 0xfe)
    throw new CliError(
      "CAPTURE_INVALID",
      `${shown(path)} is in UTF-16, as Windows PowerShell 5 writes a file: what was received is lost. Save it as bytes, or with PowerShell 7`,
    );
  const json = parseJson(file.toString("utf8").replace(/^\uFEFF/, ""));
  const capture = isRecord(json) ? captureOfJson(json) : captureOfText(file);
  if (capture.headers.length === 0)
    throw new CliError(
      "CAPTURE_INVALID",
      `${shown(path)} holds no headers. It must be a file of \`listen --save\`, JSON with headers and body, or a request with its header lines`,
    );
  return capture;
}

function captureOfText(file: Buffer): Capture {
  const text = file.toString("latin1");
  const [head = "", blank = ""] = /^[\s\S]*?(\r?\n\r?\n|$)/.exec(text) ?? [];
  const headers = head.split(/\r?\n/).flatMap((line) => {
    const [, name, value = ""] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value.trim()] as const];
  });
  const body = blank === "" ? Buffer.alloc(0) : file.subarray(head.length);
  return { headers, body };
}
