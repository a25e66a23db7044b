/** Characters that a terminal may obey instead of showing: controls, formats such as bidirectional overrides, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns a string as a terminal shows it harmlessly: each control character is escaped as in JSON. */
export function printable(value: string): string {
  return value.replace(UNPRINTABLE, escaped);
}

/** Returns a value as JSON that holds no control character beyond the line breaks of its own layout. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
