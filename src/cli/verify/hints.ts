import { isUtf8 } from "node:buffer";
import { parseJson } from "../../shared/json";
import { type HeaderPair, headerValue } from "../capture/headerPair";

/** Returns what else is conspicuous about a delivery that no secret signed, as sentences. */
export function hintsFor(body: Buffer, headers: readonly HeaderPair[]): string[] {
  const hints: string[] = [];
  const length = headerValue(headers, "content-length");
  if (length !== undefined && /^\d+$/.test(length) && Number(length) !== body.byteLength)
    hints.push(
      `The header content-length says ${length} bytes, and this body has ${body.byteLength}, so it is not the body that was sent.`,
    );
  const text = body.toString("utf8");
  const encoding = headerValue(headers, "content-encoding");
  if (encoding !== undefined && /gzip|deflate|\bbr\b/i.test(encoding) && isUtf8(body))
    hints.push(
      "The header content-encoding says that the body is compressed, and this body is not: if the sender signed the compressed bytes, only these verify.",
    );
  if (body.byteLength === 0) hints.push("The body is empty.");
  else if (/^\[object \w+\]$/.test(text.trim()) || /^<Buffer .* more bytes>$/.test(text.trim()))
    hints.push("The body is what a program printed instead of the bytes, which are lost.");
  else if (text.includes("\uFFFD"))
    hints.push("The body has characters that a decoder could not read and replaced, so its bytes are lost.");
  else if (/^\s*[{[]/.test(text) && parseJson(text) === undefined)
    hints.push("The body begins like JSON and is not valid, so it may be cut off.");
  return hints;
}
