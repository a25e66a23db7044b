import { parseJson } from "../../shared/json";

/** Fewer digits may be a word. */
const SHORTEST_HEX = 16;

/**
 * Returns the bytes that a text shows: a Buffer or a Uint8Array as Node.js prints it or as JSON, a list of bytes, hexadecimal, or a
 * string or bytes as Python prints them. Returns undefined for any other text.
 */
export function printedBytes(text: string): Buffer | undefined {
  // Each pattern looks for what must not be there: matching the whole text runs out of stack on megabytes.
  const shown = text.startsWith("<Buffer ") && text.endsWith(">") ? text.slice(8, -1) : text;
  if (!/[^0-9a-f\s]/i.test(shown) && (shown !== text || text.length >= SHORTEST_HEX)) return ofHex(shown);
  const list = text.replace(/^(?:Uint8Array|Buffer)\(\d+\)\s*/, "").replace(/,\s*\]$/, "]");
  if (list.startsWith("[") && !/[^\d,\s]/.test(list.slice(1, -1))) return bytesOf(parseJson(list));
  if (/^\{\s*"(type|data|0)"/.test(text)) return ofJson(parseJson(text));
  const start = text.startsWith("b") ? 1 : 0;
  const quote = text[start] ?? "";
  const isQuoted = text.length > start + 1 && "'\"`".includes(quote) && text.endsWith(quote);
  // A string in double quotes is JSON.
  return isQuoted && (quote !== '"' || start === 1) ? unescaped(text.slice(start + 1, -1)) : undefined;
}

function ofHex(text: string): Buffer | undefined {
  const digits = text.replace(/\s+/g, "");
  return digits.length % 2 === 0 ? Buffer.from(digits, "hex") : undefined;
}

/** Reads `{"type":"Buffer","data":[…]}`, and `{"0":123,…}`, as JSON.stringify writes a Buffer and a Uint8Array. */
function ofJson(json: unknown): Buffer | undefined {
  const { type, data, ...others } = Object(json) as Readonly<Record<string, unknown>>;
  return bytesOf(type === "Buffer" ? data : Object.values({ ...others }));
}

function bytesOf(list: unknown): Buffer | undefined {
  const isBytes =
    Array.isArray(list) &&
    list.length > 0 &&
    list.every((each) => Number.isInteger(each) && Number(each) >= 0 && Number(each) <= 255);
  return isBytes ? Buffer.from(list) : undefined;
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Undoes the escapes that Python and Node.js print. Those of bytes (`\xc3`) are bytes. */
function unescaped(text: string): Buffer {
  const latin1 = Buffer.from(text).toString("latin1");
  const plain = latin1.replace(/\\(?:x([0-9a-f]{2})|(.))/gis, (_all, hex?: string, character = "") =>
    hex === undefined ? (ESCAPED[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, "latin1");
}
