/** A shorter value may be a word of the output. */
const SHORTEST_VALUE = 8;
const SIGNING_SECRET = /whsec_[\w+/=%-]+/g;
/** Characters that a terminal may obey instead of showing: controls, formats such as bidirectional overrides, and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Keeps the secrets that a command has read out of everything that it prints. */
export class Mask {
  readonly #values = new Set<string>();

  /** Hides a secret from now on: as it is, without `whsec_`, and as a url or base64 spells it. */
  hide(secret: string): void {
    const digits = secret.replace(/^whsec_/, "");
    const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
    for (const value of [secret, digits, encodeURIComponent(digits), base64])
      if (value.length >= SHORTEST_VALUE) this.#values.add(value);
  }

  /** Returns a string without the secrets that are hidden, and without anything that is spelt as a signing secret. */
  apply(text: string): string {
    let masked = text;
    for (const value of this.#values) masked = masked.replaceAll(value, "…");
    return masked.replace(SIGNING_SECRET, "whsec_…");
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
