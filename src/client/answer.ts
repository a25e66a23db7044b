import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** The names are in lower case, as undici returns them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP answer, or as much of it as arrived. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Headers;
  /** Decompressed, if all of it arrived and is readable. */
  readonly body: Buffer;
}

/** Returns the first value of a header. */
export function headerOf(headers: Headers, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

/** Returns the service's time when it answered, in milliseconds since 1970; null without a readable `Date` header. */
export function serverTimeOf(headers: Headers): number | null {
  const time = Date.parse(headerOf(headers, "date") ?? "");
  return Number.isNaN(time) ? null : time;
}

const DECOMPRESSORS: Readonly<Record<string, typeof gunzip>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  br: brotliDecompress,
};

/**
 * Returns a whole body without its compression. No request asks for compression, but some services use it all the same.
 *
 * @throws Error with the code `ERR_BUFFER_TOO_LARGE` if it is longer than `maxBytes`
 */
export async function decompress({ headers, body }: Answer, maxBytes: number): Promise<Buffer> {
  const coding = [headers["content-encoding"] ?? []].flat().join(", ").trim().toLowerCase();
  if (body.length === 0 || coding === "" || coding === "identity") return body;
  const decompressor = coding === "deflate" ? inflaterOf(body) : DECOMPRESSORS[coding];
  if (!decompressor) throw new Error("its Content-Encoding is not gzip, deflate or br");
  return await promisify(decompressor)(body, { maxOutputLength: maxBytes });
}

/** "deflate" means the zlib format, but some services send its contents without the zlib header. */
function inflaterOf(body: Buffer): typeof gunzip {
  return ((body[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw;
}

/** An answer that breaks the contract. The message describes what is wrong with its shape and never quotes a value. */
export class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
}

/** @throws MalformedAnswer instead of the parser's own error, whose message quotes the body */
export function parseBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new MalformedAnswer(body.length === 0 ? "it is empty" : "it is not JSON");
  }
}
