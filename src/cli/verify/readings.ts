import { isUtf8 } from "node:buffer";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { type JsonText, readJsonText, writeJsonText } from "../../shared/jsonText";
import { type BodyVariant, LARGEST_REWRITTEN_BYTES, thisBody } from "./bodyVariant";
import { printedBytes } from "./printedBytes";

/** Bounds what a body may decompress to, in bytes. */
const MAX_OUTPUT = { maxOutputLength: 64 * 1024 * 1024 };
/** Looked for instead of matching the whole text, which runs out of stack on megabytes. */
const NOT_BASE64 = /[^A-Za-z0-9+/_-]/;
const SHORTEST_BASE64 = 8;
/** How many strings in JSON are looked at, and how many objects and lists. */
const MOST_STRINGS = 1_000;
const MOST_OTHERS = 50;
const DEEPEST_STRING = 8;
const COMPACT = { comma: ",", colon: ":" };
const PLAIN_PATH = /^[\w.[\]-]{1,60}$/;

/** Generates what a body holds, if it is the real body in another form: compressed, in UTF-16, as a string, or printed. */
export function* readings(body: Buffer): Generator<BodyVariant> {
  yield* decompressed(body);
  if (body.byteLength > LARGEST_REWRITTEN_BYTES) return;
  const utf16 = fromUtf16(body);
  if (utf16 !== undefined) yield thisBody("encoding-changed", utf16, "in UTF-8; it is in UTF-16");
  if (!isUtf8(body)) return;
  const text = body
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trim();
  const string = jsonString(text);
  if (string !== undefined)
    yield {
      change: "body-json-string",
      bytes: Buffer.from(string),
      description: "the string that this body holds as JSON",
    };
  const digits = text.replace(/^data:[\w.+/;=-]{0,100};base64,/i, "").replace(/\s+/g, "");
  if (digits.length >= SHORTEST_BASE64 && !NOT_BASE64.test(digits.replace(/={1,2}$/, "")))
    yield {
      change: "body-base64",
      bytes: Buffer.from(digits, "base64"),
      description: "the bytes that this body holds as base64",
    };
  const printed = printedBytes(text);
  if (printed !== undefined)
    yield { change: "body-printed", bytes: printed, description: "the bytes that this body shows as text" };
  yield* fieldReadings(text);
}

function* decompressed(body: Buffer): Generator<BodyVariant> {
  const start = body.subarray(0, 2).toString("hex");
  const ways: (readonly [string, (body: Buffer) => Buffer])[] = [];
  if (start === "1f8b") ways.push(["gzip", (each) => gunzipSync(each, MAX_OUTPUT)]);
  if (/^78(01|5e|9c|da)$/.test(start)) ways.push(["deflate", (each) => inflateSync(each, MAX_OUTPUT)]);
  // These two begin with nothing that tells them.
  if (!isUtf8(body))
    ways.push(
      ["deflate", (each) => inflateRawSync(each, MAX_OUTPUT)],
      ["Brotli", (each) => brotliDecompressSync(each, MAX_OUTPUT)],
    );
  for (const [name, decompress] of ways) {
    const bytes = attempted(() => decompress(body));
    if (bytes !== undefined)
      yield thisBody("body-compressed", bytes, `before it was compressed with ${name}`);
  }
}

/** Returns a body of UTF-16 in UTF-8, without a byte order mark. Undefined if it does not look like UTF-16. */
function fromUtf16(body: Buffer): Buffer | undefined {
  const mark = body.subarray(0, 2).toString("hex");
  const zeros = [0, 0];
  for (const [at, byte] of body.subarray(0, 1024).entries())
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [first = 0, second = 0] = zeros;
  if (mark !== "fffe" && mark !== "feff" && first + second < Math.min(body.length, 1024) / 4)
    return undefined;
  const isLittle = mark === "fffe" || (mark !== "feff" && second > first);
  return Buffer.from(new TextDecoder(isLittle ? "utf-16le" : "utf-16be").decode(body));
}

/** Returns the string that a text is as JSON, or is without the quotes around it. */
function jsonString(text: string): string | undefined {
  if (!text.startsWith('"') && !text.includes('\\"')) return undefined;
  const value = attempted(() => JSON.parse(text.startsWith('"') ? text : `"${text}"`));
  return typeof value === "string" ? value : undefined;
}

/**
 * Generates the parts of JSON that may be the body: strings at any depth, as an event of AWS Lambda has it in `body` or
 * `Records[0].body`, those that are less deep first; then values at the first level, as a mapping template puts it there.
 */
function* fieldReadings(text: string): Generator<BodyVariant> {
  const json = /^[{[]/.test(text) ? readJsonText(text) : undefined;
  if (json === undefined) return;
  const first = partsOf({ path: "", value: json });
  let strings: Part[] = [];
  for (let depth = 1, level = first; depth <= DEEPEST_STRING && strings.length < MOST_STRINGS; depth += 1) {
    strings = [...strings, ...level.filter(({ value }) => value.kind === "string")];
    level = level.flatMap(partsOf);
  }
  const others = first.filter(({ value }) => value.kind !== "string");
  for (const { path, value } of [...strings.slice(0, MOST_STRINGS), ...others.slice(0, MOST_OTHERS)]) {
    const content = value.kind === "string" ? String(JSON.parse(value.text)) : writeJsonText(value, COMPACT);
    const field = PLAIN_PATH.test(path) ? `the field ${path}` : "a field";
    yield { change: "body-wrapped", bytes: Buffer.from(content), description: `${field} of this body` };
  }
}

interface Part {
  readonly path: string;
  readonly value: JsonText;
}

/** Returns the strings, objects and lists in an object or a list, with their paths. */
function partsOf({ path, value: json }: Part): Part[] {
  const parts =
    json.kind === "object"
      ? json.members.map(({ name, value }) => ({
          path: `${path}.${JSON.parse(name)}`.replace(/^\./, ""),
          value,
        }))
      : json.kind === "array"
        ? json.items.map((value, at) => ({ path: `${path}[${at}]`, value }))
        : [];
  return parts.filter(({ value }) => value.kind !== "number" && value.kind !== "word");
}

function attempted<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
