import type { IncomingHttpHeaders } from "node:http";
import { EmulatorError } from "./errors";

export interface KeyOptions {
  /** API key to account name. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly header: string;
  readonly scheme: string | undefined;
}

/** Which API key opens which account, and where a request carries it. */
export class Keys {
  readonly #accounts: Map<string, string>;
  readonly #header: string;
  readonly #scheme: string | undefined;

  constructor({ accounts, header, scheme }: KeyOptions) {
    this.#accounts = new Map(Object.entries(accounts));
    this.#header = header;
    this.#scheme = scheme;
  }

  /** Where a key is expected, in words for an error message. */
  get place(): string {
    return this.#scheme === undefined ? `${this.#header}: <key>` : `${this.#header}: ${this.#scheme} <key>`;
  }

  get accounts(): ReadonlySet<string> {
    return new Set(this.#accounts.values());
  }

  accountOf(headers: IncomingHttpHeaders): string | undefined {
    const value = headers[this.#header.toLowerCase()];
    if (typeof value !== "string") return undefined;
    if (this.#scheme === undefined) return this.#accounts.get(value);
    const space = value.indexOf(" ");
    const matches = space > 0 && value.slice(0, space).toLowerCase() === this.#scheme.toLowerCase();
    return matches ? this.#accounts.get(value.slice(space + 1).trimStart()) : undefined;
  }

  /** The old key stops working at once. */
  rotate(oldKey: string, newKey: string): void {
    const account = this.#accounts.get(oldKey);
    if (account === undefined) {
      throw new EmulatorError(
        "EMULATOR_UNKNOWN_KEY",
        "Cannot rotate an API key: the emulator does not know the old one.",
      );
    }
    if (newKey === "" || (newKey !== oldKey && this.#accounts.has(newKey))) {
      throw new EmulatorError(
        "EMULATOR_UNKNOWN_KEY",
        "Cannot rotate an API key: the new one is empty or in use already.",
      );
    }
    this.#accounts.delete(oldKey);
    this.#accounts.set(newKey, account);
  }
}
