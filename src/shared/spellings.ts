/** The characters that HTML has a name for, of those that a key may have. */
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "amp"],
  ["<", "lt"],
  [">", "gt"],
  ['"', "quot"],
  ["'", "apos"],
  ["/", "sol"],
  ["+", "plus"],
  ["=", "equals"],
]);
/** What a program escapes with one backslash, or with several in a string within a string. Bounded for the sake of speed. */
const BACKSLASHES = String.raw`\\{1,4}`;

/**
 * Returns an expression that finds a secret in a text, however urls, JSON and HTML spell it. Programs differ in the characters that
 * they escape, so any character may be raw or escaped. The expression is global; `replace` and `replaceAll` may share it.
 */
export function spellingsOf(secret: string): RegExp {
  return new RegExp(Array.from(secret, spellingsOfCharacter).join(""), "g");
}

function spellingsOfCharacter(character: string): string {
  const raw = character.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  const code = character.codePointAt(0) ?? 0;
  // Each further encoding in a url turns "%" into "%25".
  const inUrl = Array.from(Buffer.from(character), (byte) => `%(?:25){0,3}${hexadecimal(byte, 2)}`);
  const units = Array.from({ length: character.length }, (_, at) => hexadecimal(character.charCodeAt(at), 4));
  const entity = ENTITIES.get(character);
  const spellings = [
    /\w/.test(character) ? raw : `(?:${BACKSLASHES})?${raw}`,
    inUrl.join(""),
    units.map((unit) => `(?:${BACKSLASHES}|%)u${unit}`).join(""),
    `&#[xX]0*${hexadecimal(code)};`,
    `&#0*${code};`,
    ...(entity === undefined ? [] : [`&${entity};`]),
  ];
  return `(?:${spellings.join("|")})`;
}

/** Returns a pattern for a number in hexadecimal digits of either case. */
function hexadecimal(value: number, length = 1): string {
  return value
    .toString(16)
    .padStart(length, "0")
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
