import { type JsonStyle, readJsonText, writeJsonText } from "./jsonText";

/** How a body was changed on its way. */
export type BodyChange =
  | "body-reserialized"
  | "newline-added"
  | "newline-removed"
  | "line-endings-changed"
  | "byte-order-mark"
  | "encoding-changed";

/** A body that the sender may have signed. */
export interface BodyVariant {
  readonly change: BodyChange;
  readonly bytes: Uint8Array;
  /** Completes the sentence "The sender signed …". */
  readonly description: string;
}

/** Larger bodies are not written in other ways: there are about a hundred. */
const LARGEST_BYTES = 4 * 1024 * 1024;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

type Layout = Pick<JsonStyle, "comma" | "colon" | "indent">;

const LAYOUTS: readonly (readonly [string, Layout])[] = [
  ["compact JSON, as JSON.stringify writes it", { comma: ",", colon: ":" }],
  [
    "JSON with a space after each comma and colon, as Python's json.dumps writes it",
    { comma: ", ", colon: ": " },
  ],
  ["JSON with an indent of 2 spaces", { comma: ",", colon: ": ", indent: "  " }],
  ["JSON with an indent of 4 spaces", { comma: ",", colon: ": ", indent: "    " }],
  ["JSON with an indent of a tab", { comma: ",", colon: ": ", indent: "\t" }],
];

const SPELLINGS: readonly (readonly [string, JsonStyle["string"]])[] = [
  ["", (text) => text],
  ["", plain],
  [" with escaped non-ASCII characters", ascii],
  [" with escaped slashes", (text) => plain(text).replaceAll("/", "\\/")],
  [" with escaped slashes and non-ASCII characters", (text) => ascii(text).replaceAll("/", "\\/")],
  [" with escaped <, > and &", html],
];

/** Generates the bodies that the sender may have signed if this one was changed in a usual way. Likely ones come first. */
export function* bodyVariants(body: Uint8Array): Generator<BodyVariant> {
  yield* envelopes(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  if (body.byteLength > LARGEST_BYTES) return;
  const json = readJsonText(
    Buffer.from(body)
      .toString("utf8")
      .replace(/^\uFEFF/, ""),
  );
  if (json === undefined) return;
  const seen = new Set<string>();
  for (const sorted of [false, true])
    for (const [how, string] of SPELLINGS)
      for (const [layout, options] of LAYOUTS) {
        const text = writeJsonText(json, { ...options, sorted, string });
        if (seen.has(text)) continue;
        seen.add(text);
        const description = `${layout}${how}${sorted ? ", with sorted keys" : ""}`;
        yield { change: "body-reserialized", bytes: Buffer.from(text), description };
        yield {
          change: "body-reserialized",
          bytes: Buffer.from(`${text}\n`),
          description: `${description}, and a newline at the end`,
        };
      }
}

function* envelopes(body: Buffer): Generator<BodyVariant> {
  const newline = /\r?\n$/.exec(body.subarray(-2).toString("latin1"))?.[0] ?? "";
  if (newline !== "")
    yield {
      change: "newline-added",
      bytes: body.subarray(0, -newline.length),
      description: "this body without the newline at its end",
    };
  for (const end of ["\n", "\r\n"])
    yield {
      change: "newline-removed",
      bytes: Buffer.concat([body, Buffer.from(end)]),
      description: "this body with a newline at its end",
    };
  if (body.subarray(0, 3).equals(BYTE_ORDER_MARK))
    yield {
      change: "byte-order-mark",
      bytes: body.subarray(3),
      description: "this body without the byte order mark at its start",
    };
  else
    yield {
      change: "byte-order-mark",
      bytes: Buffer.concat([BYTE_ORDER_MARK, body]),
      description: "this body with a byte order mark at its start",
    };
  const text = body.toString("latin1");
  if (text.includes("\n")) {
    const unix = text.replaceAll("\r\n", "\n");
    const endings: [string, string][] = [
      [unix, "with the line ends of Unix (LF)"],
      [unix.replaceAll("\n", "\r\n"), "with the line ends of Windows (CRLF)"],
    ];
    for (const [changed, how] of endings)
      for (const end of ["", "\n", "\r\n"])
        yield {
          change: "line-endings-changed",
          bytes: Buffer.from(changed.replace(/(\r?\n)*$/, "") + end, "latin1"),
          description: `this body ${how}`,
        };
  }
  // Read as Latin-1 and written as UTF-8, or the other way round.
  yield {
    change: "encoding-changed",
    bytes: Buffer.from(body.toString("utf8"), "latin1"),
    description: "this body before it was read as Latin-1 and written as UTF-8",
  };
  yield {
    change: "encoding-changed",
    bytes: Buffer.from(text, "utf8"),
    description: "this body in UTF-8; it is in Latin-1",
  };
}

function plain(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

function ascii(text: string): string {
  return plain(text).replace(/[\u0080-\uffff]/g, escaped);
}

/** As Go and .NET do. */
function html(text: string): string {
  return plain(text).replace(/[<>&\u2028\u2029]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
