import { hide, spellingsOf } from "../shared/masking";

/** A shorter value may be a word of the output. */
const SHORTEST_VALUE = 8;
/** Characters that a terminal may obey instead of showing: controls, formats such as bidirectional overrides, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Keeps the secrets that a command has read out of everything that it prints. */
export class Mask {
  readonly #values = new Set<string>();

  /** Hides a secret from now on, however it is spelled. */
  hide(secret: string): void {
    for (const value of spellingsOf(secret)) if (value.length >= SHORTEST_VALUE) this.#values.add(value);
  }

  /** Returns a string without the secrets that are hidden, and without anything that is spelt as a signing secret. */
  apply(text: string): string {
    return hide(text, this.#values);
  }
}

/** Returns a string whose control characters are escaped as in JSON. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** Writes every character as JSON can. */
export function escaped(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
