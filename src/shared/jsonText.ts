/** A JSON value that keeps the spelling of its strings and numbers. */
export type JsonText =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "array"; readonly items: readonly JsonText[] }
  | { readonly kind: "object"; readonly members: readonly Member[] };

interface Member {
  /** The JSON string of the name. */
  readonly name: string;
  readonly value: JsonText;
}

export interface JsonStyle {
  /** Between items, such as `,` or `, `. Ignored with an indent. */
  readonly comma: string;
  readonly colon: string;
  /** One level of indentation. Without it, everything is on one line. */
  readonly indent?: string;
  /** Deeper levels are not indented any further. Default: all are. */
  readonly deepestIndent?: number;
  /** Default: a line feed. */
  readonly newline?: string;
  readonly sorted?: boolean;
  /** Writes a list on one line even with an indent, and a space inside brackets without a line, as Jackson does. */
  readonly spacedLists?: boolean;
}

interface JsonSpelling {
  /** Returns the spelling of a JSON string. */
  readonly string: (text: string) => string;
  /** Returns the spelling of a JSON number. */
  readonly number: (text: string) => string;
}

/** Deeper JSON is not read: the reader is recursive. */
const DEEPEST = 200;
/** A token, or the beginning of a string. */
const TOKEN = /["{}[\],:]|[^\s{}[\],:"]+/g;

/** Reads JSON. Returns undefined for anything else, and for JSON that is nested too deeply. */
export function readJsonText(text: string): JsonText | undefined {
  try {
    JSON.parse(text);
    const tokens = tokensOf(text);
    let at = 0;
    const next = () => tokens[at++] ?? "";
    const value = (token: string, depth: number): JsonText => {
      if (depth > DEEPEST) throw new RangeError("too deep");
      if (token.startsWith('"')) return { kind: "string", text: token };
      if (token === "[") {
        const items: JsonText[] = [];
        for (let item = next(); item !== "]"; item = next())
          if (item !== ",") items.push(value(item, depth + 1));
        return { kind: "array", items };
      }
      if (token !== "{") return { kind: /^[-\d]/.test(token) ? "number" : "word", text: token };
      const members: Member[] = [];
      for (let name = next(); name !== "}"; name = next()) {
        if (name === ",") continue;
        next(); // the colon
        members.push({ name, value: value(next(), depth + 1) });
      }
      return { kind: "object", members };
    };
    return value(next(), 0);
  } catch {
    return undefined;
  }
}

/** Splits valid JSON. A regular expression for whole strings would need a stack as high as the escapes in a string are many. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const pattern = new RegExp(TOKEN);
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [token] = found;
    if (token === '"') pattern.lastIndex = endOfString(text, found.index);
    tokens.push(token === '"' ? text.slice(found.index, pattern.lastIndex) : token);
  }
  return tokens;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === "\\") before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
}

/** Returns the same JSON with other spellings of its strings, names and numbers. Asks in the order of the text. */
export function respell(json: JsonText, spelling: JsonSpelling): JsonText {
  if (json.kind === "word") return json;
  if (json.kind === "string" || json.kind === "number")
    return { kind: json.kind, text: spelling[json.kind](json.text) };
  if (json.kind === "array")
    return { kind: "array", items: json.items.map((item) => respell(item, spelling)) };
  const members = json.members.map(({ name, value }) => ({
    name: spelling.string(name),
    value: respell(value, spelling),
  }));
  return { kind: "object", members };
}

/** Writes JSON in a style. */
export function writeJsonText(json: JsonText, style: JsonStyle, level = 0): string {
  const {
    comma,
    colon,
    indent,
    deepestIndent = Number.POSITIVE_INFINITY,
    newline = "\n",
    sorted = false,
    spacedLists = false,
  } = style;
  if (json.kind !== "array" && json.kind !== "object") return json.text;
  const wrap = (open: string, parts: readonly string[], close: string) => {
    const space = spacedLists ? " " : "";
    if (parts.length === 0) return `${open}${space}${close}`;
    if (indent === undefined || (spacedLists && open === "["))
      return `${open}${space}${parts.join(comma)}${space}${close}`;
    const lineAt = (depth: number) => `${newline}${indent.repeat(Math.min(depth, deepestIndent))}`;
    const line = lineAt(level + 1);
    return `${open}${line}${parts.join(`,${line}`)}${lineAt(level)}${close}`;
  };
  const write = (value: JsonText) =>
    writeJsonText(value, style, spacedLists && json.kind === "array" ? level : level + 1);
  if (json.kind === "array") return wrap("[", json.items.map(write), "]");
  const members = sorted ? json.members.toSorted(byName) : json.members;
  return wrap(
    "{",
    members.map(({ name, value }) => `${name}${colon}${write(value)}`),
    "}",
  );
}

function byName(a: Member, b: Member): number {
  const [first, second] = [String(JSON.parse(a.name)), String(JSON.parse(b.name))];
  return first < second ? -1 : first > second ? 1 : 0;
}
