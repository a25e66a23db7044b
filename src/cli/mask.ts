import { hide, spellingsOf } from "../shared/masking";

/** A shorter value may be a word of the output. */
const SHORTEST_VALUE = 8;

/** Keeps the secrets that a command has read out of everything that it prints. */
export class Mask {
  readonly #values = new Set<string>();

  /** Notes a secret to hide from now on, however it is spelled. */
  remember(secret: string): void {
    for (const value of spellingsOf(secret)) if (value.length >= SHORTEST_VALUE) this.#values.add(value);
  }

  /** Returns a string without the secrets that are hidden, and without anything that is spelt as a signing secret. */
  apply(text: string): string {
    return hide(text, this.#values);
  }
}
