import { createHash } from "node:crypto";
import { type BodyVariant, LARGEST_REWRITTEN_BYTES } from "./bodyVariant";
import { NUMBER_SPELLINGS, numberCombinations } from "./jsonNumbers";
import { STRING_SPELLINGS } from "./jsonStrings";
import { type JsonStyle, type JsonText, readJsonText, respell, writeJsonText } from "./jsonText";

const COMPACT: JsonStyle = { comma: ",", colon: ":" };
const PYTHON: JsonStyle = { comma: ", ", colon: ": " };
const WINDOWS = "\r\n";

const LAYOUTS: readonly (readonly [string, JsonStyle])[] = [
  ["compact JSON, as JSON.stringify writes it", COMPACT],
  ["JSON with a space after each comma and colon, as Python's json.dumps writes it", PYTHON],
  ["JSON with an indent of 2 spaces", { comma: ",", colon: ": ", indent: "  " }],
  ["JSON with an indent of 4 spaces", { comma: ",", colon: ": ", indent: "    " }],
  ["JSON with an indent of a tab", { comma: ",", colon: ": ", indent: "\t" }],
  [
    "JSON with an indent of 2 spaces and the line ends of Windows",
    { comma: ",", colon: ": ", indent: "  ", newline: WINDOWS },
  ],
  [
    "JSON with an indent of 4 spaces and the line ends of Windows",
    { comma: ",", colon: ": ", indent: "    ", newline: WINDOWS },
  ],
];
const SAME_NUMBERS = (text: string) => text;

/** Generates a body of JSON as other libraries write it. */
export function* rewrites(body: Buffer): Generator<BodyVariant> {
  const json = jsonOf(body);
  if (json === undefined) return;
  const seen = new Set<string>();
  const isNew = (text: string) => {
    const { size } = seen;
    // A digest, because the texts may be megabytes.
    return seen.add(createHash("sha1").update(text).digest("base64")).size > size;
  };
  for (const [numbers, number] of NUMBER_SPELLINGS)
    for (const [strings, string] of STRING_SPELLINGS) {
      const respelled = respell(json, { string, number });
      for (const sorted of [false, true])
        for (const [layout, style] of LAYOUTS) {
          const text = writeJsonText(respelled, { ...style, sorted });
          // If the compact text is known, so are the other layouts.
          if (!isNew(text) && style === COMPACT) break;
          yield* withNewline(text, `${layout}${strings}${numbers}${sorted ? ", with sorted keys" : ""}`);
        }
    }
}

/** Generates a body of JSON in which each number may have been written in its own way. */
export function* numberRewrites(body: Buffer): Generator<BodyVariant> {
  const json = jsonOf(body);
  if (json === undefined) return;
  const texts: string[] = [];
  respell(json, { string: SAME_NUMBERS, number: (text) => texts[texts.push(text) - 1] ?? "" });
  if (texts.length === 0) return;
  for (const numbers of numberCombinations(texts)) {
    let at = 0;
    for (const [, string] of STRING_SPELLINGS.slice(0, 4)) {
      at = 0;
      const respelled = respell(json, { string, number: () => numbers[at++] ?? "" });
      for (const [layout, style] of LAYOUTS.slice(0, 2))
        yield {
          change: "body-reserialized",
          bytes: Buffer.from(writeJsonText(respelled, style)),
          description: `${layout}, with numbers written in another way`,
        };
    }
  }
}

function jsonOf(body: Buffer): JsonText | undefined {
  if (body.byteLength > LARGEST_REWRITTEN_BYTES) return undefined;
  return readJsonText(body.toString("utf8").replace(/^\uFEFF/, ""));
}

function* withNewline(text: string, description: string): Generator<BodyVariant> {
  const change = "body-reserialized";
  yield { change, bytes: Buffer.from(text), description };
  yield { change, bytes: Buffer.from(`${text}\n`), description: `${description}, and a newline at the end` };
}
