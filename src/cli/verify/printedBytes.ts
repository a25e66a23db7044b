const LIST = /^\[\s*\d{1,3}(\s*,\s*\d{1,3})*\s*,?\s*\]$/;

/**
 * Returns the bytes that a text shows: a Buffer or a Uint8Array as Node.js prints it or as JSON, a list of bytes, hexadecimal, or a
 * string or bytes as Python prints them. Returns undefined for any other text.
 */
export function printedBytes(text: string): Buffer | undefined {
  const buffer = /^<Buffer((?: [0-9a-f]{2})+)>$/.exec(text)?.[1];
  if (buffer !== undefined) return Buffer.from(buffer.replaceAll(" ", ""), "hex");
  if (/^([0-9a-f]{2}\s*){8,}$/i.test(text)) return Buffer.from(text.replace(/\s+/g, ""), "hex");
  const list = text.replace(/^(?:Uint8Array|Buffer)\(\d+\)\s*/, "").replace(/,\s*\]$/, "]");
  if (LIST.test(list)) return bytesOf(JSON.parse(list));
  if (/^\{\s*"(type|data|0)"/.test(text)) return ofJson(text);
  const [, quote, inner] = /^b?(['"`])(.*)\1$/s.exec(text) ?? [];
  return quote === undefined || (quote === '"' && !text.startsWith("b")) ? undefined : unescaped(inner ?? "");
}

/** Reads `{"type":"Buffer","data":[…]}`, and `{"0":123,…}`, as JSON.stringify writes a Buffer and a Uint8Array. */
function ofJson(text: string): Buffer | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { type, data } = json as Readonly<Record<string, unknown>>;
  return bytesOf(type === "Buffer" ? data : Object.values(json as object));
}

function bytesOf(list: unknown): Buffer | undefined {
  const isBytes =
    Array.isArray(list) &&
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
