import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { type BodyVariant, thisBody } from "./bodyVariant";

/** Larger bodies would keep Ctrl-C waiting. In bytes. */
const LARGEST_BYTES = 1024 * 1024;
const LEVELS: readonly number[] = [6, 9, 1, 2, 3, 4, 5, 7, 8];
const BROTLI_QUALITIES: readonly number[] = [11, 4, 5, 6, 1];
/** The place of the operating system in the header of gzip, and what libraries write there: Unix, unknown, Windows, DOS, macOS. */
const SYSTEM_AT = 9;
const SYSTEMS: readonly number[] = [3, 255, 10, 0, 19];

/**
 * Generates the compressed bodies that the sender may have signed, if the header says that there was one, and something on the way
 * decompressed it. Another library may compress in another way, so this is not exhaustive.
 */
export function* compressions(body: Buffer, contentEncoding: string | undefined): Generator<BodyVariant> {
  if (contentEncoding === undefined || body.byteLength > LARGEST_BYTES) return;
  const variant = (bytes: Buffer, how: string) =>
    thisBody("body-decompressed", bytes, `compressed with ${how}`);
  if (/gzip/i.test(contentEncoding))
    for (const level of LEVELS) {
      const bytes = gzipSync(body, { level });
      for (const system of SYSTEMS) yield variant(Buffer.from(bytes.with(SYSTEM_AT, system)), "gzip");
    }
  if (/deflate/i.test(contentEncoding))
    for (const level of LEVELS) {
      yield variant(deflateSync(body, { level }), "deflate");
      yield variant(deflateRawSync(body, { level }), "deflate");
    }
  if (/\bbr\b/i.test(contentEncoding))
    for (const quality of BROTLI_QUALITIES)
      yield variant(
        brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
        "Brotli",
      );
}
