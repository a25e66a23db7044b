import { createHash } from "node:crypto";
import { type JsonStyle, type JsonText, readJsonText, respell, writeJsonText } from "../../shared/jsonText";
import { type BodyVariant, LARGEST_REWRITTEN_BYTES } from "./bodyVariant";
import { NUMBER_SPELLINGS, numberCombinations } from "./jsonNumbers";
import { MOST_ORDERS, ordersOf, otherOrders } from "./jsonOrders";
import { STRING_SPELLINGS } from "./jsonStrings";

const COMPACT: JsonStyle = { comma: ",", colon: ":" };
const PYTHON: JsonStyle = { comma: ", ", colon: ": " };
const WINDOWS = "\r\n";

const LAYOUTS: readonly (readonly [string, JsonStyle])[] = [
  ["compact JSON, as JSON.stringify writes it", COMPACT],
  ["JSON with a space after each comma and colon, as Python's json.dumps writes it", PYTHON],
  ["JSON with an indent of 2 spaces", { comma: ",", colon: ": ", indent: "  " }],
  ["JSON with an indent of 4 spaces", { comma: ",", colon: ": ", indent: "    " }],
  [
    "JSON with an indent of 2 spaces and a space before each colon, as Jackson writes it",
    { comma: ", ", colon: " : ", indent: "  ", spacedLists: true },
  ],
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

/** Generates a body of JSON as other libraries write it. */
export function* rewrites(body: Buffer): Generator<BodyVariant> {
  const json = jsonOf(body);
  if (json === undefined) return;
  yield* rewritesOf(json);
  if (countEmptyLists(json) > 0) yield* asPhp(mapEmptyLists(json, () => true));
}

/** Generates a body of JSON in which some empty lists were empty objects. */
export function* emptyListRewrites(body: Buffer): Generator<BodyVariant> {
  const json = jsonOf(body);
  if (json === undefined) return;
  const found = countEmptyLists(json);
  if (found > MOST_EMPTY_LISTS) return;
  for (let choice = 1; choice < 2 ** found - 1; choice += 1) {
    let at = 0;
    yield* asPhp(mapEmptyLists(json, () => ((choice >> at++) & 1) === 1));
  }
}

function* asPhp(json: JsonText): Generator<BodyVariant> {
  for (const rewrite of rewritesOf(json))
    yield { ...rewrite, description: `${rewrite.description}, with {} for an empty list, as PHP writes one` };
}

function* rewritesOf(json: JsonText): Generator<BodyVariant> {
  const { strings, numbers } = scalarsOf(json);
  const numberSpellings = distinct(NUMBER_SPELLINGS, new Set(numbers));
  const stringSpellings = distinct(STRING_SPELLINGS, strings);
  for (const sorted of [false, true])
    for (const [inNumbers, number] of numberSpellings)
      for (const [inStrings, string] of stringSpellings) {
        const respelled = respell(json, { string, number });
        for (const [layout, style] of LAYOUTS) {
          const text = writeJsonText(respelled, { ...style, sorted });
          yield* withNewline(text, `${layout}${inStrings}${inNumbers}${sorted ? ", with sorted keys" : ""}`);
        }
      }
}

/** How many empty lists are tried in each choice. With more, only all of them are tried. */
const MOST_EMPTY_LISTS = 5;

function countEmptyLists(json: JsonText): number {
  let found = 0;
  mapEmptyLists(json, () => {
    found += 1;
    return false;
  });
  return found;
}

function mapEmptyLists(json: JsonText, isObject: () => boolean): JsonText {
  if (json.kind === "object")
    return {
      ...json,
      members: json.members.map(({ name, value }) => ({ name, value: mapEmptyLists(value, isObject) })),
    };
  if (json.kind !== "array") return json;
  if (json.items.length === 0) return isObject() ? { kind: "object", members: [] } : json;
  return { ...json, items: json.items.map((item) => mapEmptyLists(item, isObject)) };
}

/** Generates a body of JSON in which each number may have been written in its own way. */
export function* numberRewrites(body: Buffer): Generator<BodyVariant> {
  const json = jsonOf(body);
  if (json === undefined) return;
  const { strings, numbers } = scalarsOf(json);
  if (numbers.length === 0) return;
  const spellings = distinct(STRING_SPELLINGS.slice(0, 4), strings);
  for (const combination of numberCombinations(numbers))
    for (const [inStrings, string] of spellings) {
      let at = 0;
      const respelled = respell(json, { string, number: () => combination[at++] ?? "" });
      for (const [layout, style] of LAYOUTS.slice(0, 2)) {
        const bytes = Buffer.from(writeJsonText(respelled, style));
        yield {
          change: "body-reserialized",
          bytes,
          description: `${layout}${inStrings}, with numbers written in another way`,
        };
      }
    }
}

/** Generates a body of JSON whose names may have stood in any order. What sorts them may rewrite the numbers, too. */
export function* orderRewrites(body: Buffer): Generator<BodyVariant> {
  const json = jsonOf(body);
  if (json === undefined) return;
  const { strings, numbers } = scalarsOf(json);
  const spellings = distinct(STRING_SPELLINGS.slice(0, 4), strings);
  let waysLeft = Math.max(1, Math.floor(MOST_ORDERS / ordersOf(json)));
  for (const [inNumbers, number] of waysOfNumbers(new Set(numbers))) {
    if (waysLeft-- === 0) return;
    for (const reordered of otherOrders(json))
      for (const [inStrings, string] of spellings) {
        const respelled = respell(reordered, { string, number });
        for (const [layout, style] of LAYOUTS.slice(0, 2)) {
          const bytes = Buffer.from(writeJsonText(respelled, style));
          const description = `${layout}${inStrings}, with ${inNumbers}the keys in another order`;
          yield { change: "body-reserialized", bytes, description };
        }
      }
  }
}

/** Generates ways to write numbers, the most likely first: as they are, all as one language does, and each in its own way. */
function* waysOfNumbers(texts: ReadonlySet<string>): Generator<Spelling> {
  const [asTheyAre, ...languages] = distinct(NUMBER_SPELLINGS, texts);
  if (asTheyAre) yield asTheyAre;
  for (const [, spelling] of languages) yield ["numbers written in another way and ", spelling];
  for (const combination of numberCombinations([...texts])) {
    const written = new Map([...texts].map((text, at) => [text, combination[at] ?? text]));
    yield ["numbers written in another way and ", (text) => written.get(text) ?? text];
  }
}

/** Returns the strings of JSON, each once, and the numbers in the order of the text. */
function scalarsOf(json: JsonText): { strings: ReadonlySet<string>; numbers: readonly string[] } {
  const strings = new Set<string>();
  const numbers: string[] = [];
  const keep = (into: (text: string) => unknown) => (text: string) => {
    into(text);
    return text;
  };
  respell(json, { string: keep((text) => strings.add(text)), number: keep((text) => numbers.push(text)) });
  return { strings, numbers };
}

type Spelling = readonly [description: string, spelling: (text: string) => string];

/** Returns the spellings that write these texts in different ways. Each remembers what it wrote. */
function distinct(spellings: readonly Spelling[], texts: ReadonlySet<string>): Spelling[] {
  const seen = new Set<string>();
  return spellings.flatMap(([description, spelling]) => {
    const written = new Map([...texts].map((text) => [text, spelling(text)]));
    const digest = createHash("sha1")
      .update([...written.values()].join())
      .digest("base64");
    if (seen.has(digest)) return [];
    seen.add(digest);
    return [[description, (text) => written.get(text) ?? text] as const];
  });
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
