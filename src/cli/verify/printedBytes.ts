import { parseJson } from "../../shared/json";

/** Fewer digits may be a word. */
const SHORTEST_HEX = 16;

/** The entities of HTML, by number or by one of the names that JSON's own characters have. */
const ENTITY = /&(?:#x0*([\da-f]{1,6})|#0*(\d{1,7})|(\w{2,4}));/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/**
 * Returns the bytes that a string shows: a Buffer or a Uint8Array as Node.js prints it or as JSON, a list of bytes, hexadecimal, or a
 * string with the escapes of Python, C, nginx, CSV, a url or HTML. Returns undefined for any other text.
 */
export function printedBytes(text: string): Buffer | undefined {
  // Each pattern looks for what must not be there: matching the whole text runs out of stack on megabytes.
  const shown = text.replace(/^(<Buffer |\[\]byte\{)/, "").replace(/[>}]$/, "");
  const hex = shown.replace(/0x|[\s,:-]/gi, "");
  if (!/[^0-9a-f]/i.test(hex) && (shown !== text || hex.length >= SHORTEST_HEX))
    return hex.length % 2 === 0 ? Buffer.from(hex, "hex") : undefined;
  const list = text.replace(/^(?:Uint8Array|Buffer)\(\d+\)\s*/, "");
  if (list.startsWith("[") && list.endsWith("]") && !/[^-\d,\s]/.test(list.slice(1, -1)))
    return bytesOf(list.match(/[-\d]+/g)?.map(Number));
  if (/^\{\s*"(type|data|0)"/.test(text)) return ofJson(parseJson(text));
  if (/^"[{[]\s*""/.test(text) && text.endsWith('"'))
    return Buffer.from(text.slice(1, -1).replaceAll('""', '"'));
  const start = text.startsWith("b") ? 1 : 0;
  const quote = text[start] ?? "";
  const isQuoted = text.length > start + 1 && "'\"`".includes(quote) && text.endsWith(quote);
  // A string in double quotes is JSON.
  if (isQuoted && (quote !== '"' || start === 1)) return unescaped(text.slice(start + 1, -1));
  if (/\\x[0-9a-f]{2}/i.test(text)) return unescaped(text);
  if (/^[{[]\s*&(quot|#0*34|#x0*22);/i.test(text)) return Buffer.from(text.replace(ENTITY, characterOf));
  if (!/^(\w+=)?%[57]B/i.test(text)) return undefined;
  const [[name = "", value = ""] = []] = new URLSearchParams(text);
  return Buffer.from(value || name);
}

function characterOf(entity: string, hex?: string, decimal?: string, name = ""): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : (ENTITIES[name] ?? entity);
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
    list.every((each) => Number.isInteger(each) && Number(each) >= -128 && Number(each) <= 255);
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
