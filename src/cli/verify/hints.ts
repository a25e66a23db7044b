import { isUtf8 } from "node:buffer";
import { parseJson } from "../../shared/json";
import { type HeaderPair, headerValue } from "../capture/headerPair";
import { MASKED_SECRET } from "../knownSecrets";
import { printedBytes } from "./printedBytes";

/** An object or a list as Node.js, Python, Ruby or Java print it: a name that is not in double quotes, or that no colon follows. */
const PRINTED_OBJECT = /^[\s{[]*\{\s*('|:?[\w$]+\s*[:=]|"[^"]*"\s*=>)/;

/** A whole number of 16 digits and more, as JSON has it. */
const LARGE_NUMBER = /(?<=[\s:,[])\d{16,}(?=[\s,}\]])/g;

/** Returns whether JavaScript may have rounded a number to this one. */
function isAsJavaScriptWrites(text: string): boolean {
  return Number(text) > Number.MAX_SAFE_INTEGER && String(Number(text)) === text;
}

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
  const transfer = headerValue(headers, "transfer-encoding") ?? "";
  if (/chunked/i.test(transfer) && /^[\da-f]+(;.*)?\r?\n/i.test(text))
    hints.push(
      "The body begins with the size of a chunk. No size was signed: remove each, and its line end.",
    );
  if (text.includes(MASKED_SECRET))
    hints.push(
      "The body holds what looks like a signing secret, and it was masked when the body was printed, so its bytes are lost. The files of `listen --save` hold the bytes.",
    );
  const [rounded] = text.match(LARGE_NUMBER)?.filter(isAsJavaScriptWrites) ?? [];
  if (rounded !== undefined && parseJson(text) !== undefined)
    hints.push(
      `The body has the number ${rounded}, beyond 2^53. A program that parses JSON rounds such a number: if one wrote this body again, what was signed is lost.`,
    );
  if (body.byteLength === 0) hints.push("The body is empty.");
  else if (/^(\[object \w+\]|<Buffer .* more bytes>)$/.test(text.trim()) || PRINTED_OBJECT.test(text))
    hints.push("The body is what a program printed instead of the bytes, which are lost.");
  else if (isUtf8(body) && text.includes("\uFFFD"))
    hints.push("The body has characters that a decoder could not read and replaced, so its bytes are lost.");
  else if (text.includes("??"))
    hints.push(
      "The body has question marks. If a decoder wrote them for characters beyond ASCII, its bytes are lost.",
    );
  else if (/^\s*[{[]/.test(text) && parseJson(text) === undefined && printedBytes(text.trim()) === undefined)
    hints.push("The body begins like JSON and is not valid, so it may be cut off.");
  return hints;
}
