/** Characters that a terminal may obey instead of showing: controls, formats such as bidirectional overrides, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns a string whose control characters are escaped as in JSON. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, jsonEscaped);
}

/** Writes every character as JSON can. */
export function jsonEscaped(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
