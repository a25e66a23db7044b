import { isUtf8 } from "node:buffer";
import { type BodyVariant, thisBody } from "./bodyVariant";

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** The characters of the bytes 0x80 to 0x9f in Windows-1252; in Latin-1 they are controls. TextDecoder of Node.js 20 mixes the two. */
const WINDOWS_1252 =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

/** Generates a body with another end, other line ends, another byte order mark, or in another character set. */
export function* envelopes(body: Buffer): Generator<BodyVariant> {
  const text = body.toString("latin1");
  const newline = /\r?\n$/.exec(text.slice(-2))?.[0] ?? "";
  if (newline !== "")
    yield thisBody("newline-added", body.subarray(0, -newline.length), "without the newline at its end");
  for (const end of ["\n", "\r\n"])
    yield thisBody("newline-removed", Buffer.concat([body, Buffer.from(end)]), "with a newline at its end");
  const trimmed = withoutEnd(text, " \t\r\n").replace(/^[ \t\r\n]+/, "");
  if (trimmed.length < text.length)
    yield thisBody("newline-added", Buffer.from(trimmed, "latin1"), "without the white space around it");
  yield body.subarray(0, 3).equals(BYTE_ORDER_MARK)
    ? thisBody("byte-order-mark", body.subarray(3), "without the byte order mark at its start")
    : thisBody(
        "byte-order-mark",
        Buffer.concat([BYTE_ORDER_MARK, body]),
        "with a byte order mark at its start",
      );
  yield* lineEnds(text);
  yield* characterSets(body);
}

/** Drops these characters at the end. A regular expression would take very long for a body of white space. */
function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] ?? "")) end -= 1;
  return text.slice(0, end);
}

function* lineEnds(text: string): Generator<BodyVariant> {
  if (!text.includes("\n")) return;
  const unix = text.replaceAll("\r\n", "\n");
  const endings: [string, string][] = [
    [unix, "with the line ends of Unix (LF)"],
    [unix.replaceAll("\n", "\r\n"), "with the line ends of Windows (CRLF)"],
  ];
  for (const [changed, how] of endings)
    for (const end of ["", "\n", "\r\n"])
      yield thisBody("line-endings-changed", Buffer.from(withoutEnd(changed, "\r\n") + end, "latin1"), how);
}

function* characterSets(body: Buffer): Generator<BodyVariant> {
  const change = "encoding-changed";
  const text = body.toString("utf8");
  for (const [name, bytes] of [
    ["Latin-1", Buffer.from(text, "latin1")],
    ["Windows-1252", inWindows1252(text)],
  ] as const)
    if (bytes !== undefined)
      yield thisBody(change, bytes, `before it was read as ${name} and written as UTF-8`);
  if (!isUtf8(body)) {
    yield thisBody(change, Buffer.from(body.toString("latin1")), "in UTF-8; it is in Latin-1");
    const decoded = body
      .toString("latin1")
      .replace(/[\u0080-\u009f]/g, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control);
    yield thisBody(change, Buffer.from(decoded), "in UTF-8; it is in Windows-1252");
  }
  const utf16 = Buffer.from(text, "utf16le");
  for (const mark of ["", "\uFEFF"]) {
    const bytes = Buffer.concat([Buffer.from(mark, "utf16le"), utf16]);
    yield thisBody(change, bytes, "in UTF-16");
    yield thisBody(change, Buffer.from(bytes).swap16(), "in UTF-16 (big-endian)");
  }
}

/** Returns undefined if a character has no byte in Windows-1252. */
function inWindows1252(text: string): Buffer | undefined {
  const latin1 = text.replace(/[\u0080-\u009f\u0100-\uffff]/g, (character) => {
    const at = WINDOWS_1252.indexOf(character);
    return at === -1 ? character : String.fromCharCode(0x80 + at);
  });
  return /[\u0100-\uffff]/.test(latin1) ? undefined : Buffer.from(latin1, "latin1");
}
