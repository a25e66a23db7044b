/** Characters that a terminal may obey instead of showing: controls, formats such as bidirectional overrides, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns a string as a terminal shows it harmlessly: each control character is escaped as in JSON. */
export function printable(value: string): string {
  return value.replace(UNPRINTABLE, escaped);
}

/**
 * Returns a value as JSON that holds no control character beyond the line breaks of its own layout.
 *
 * @param mask applied to each string in the value
 */
export function printableJson(value: unknown, indent = 0, mask = (text: string) => text): string {
  const masked = (_name: string, each: unknown) => (typeof each === "string" ? mask(each) : each);
  return JSON.stringify(value, masked, indent).replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
