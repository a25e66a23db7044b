import type { IncomingHttpHeaders } from "node:http";
import { EmulatorError } from "./errors";

interface KeyOptions {
  /** API key to account name. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly header: string;
  readonly scheme: string | undefined;
}

/** Maps API keys to accounts, and finds the key in a request. */
export class Keys {
  readonly #accounts: Map<string, string>;

  constructor(private readonly options: KeyOptions) {
    this.#accounts = new Map(Object.entries(options.accounts));
  }

  /** Describes, for an error message, the header that carries the key. */
  get place(): string {
    const { header, scheme } = this.options;
    return scheme === undefined ? `${header}: <key>` : `${header}: ${scheme} <key>`;
  }

  /** @throws EmulatorError when no key opens the account */
  checkAccount(account: string): void {
    const known = [...new Set(this.#accounts.values())];
    if (known.includes(account)) return;
    const message = `Cannot add an endpoint to account ${account}: no API key opens it. Known accounts: ${known.join(", ")}.`;
    throw new EmulatorError("EMULATOR_UNKNOWN_ACCOUNT", message);
  }

  accountOf(headers: IncomingHttpHeaders): string | undefined {
    const { header, scheme } = this.options;
    const value = headers[header.toLowerCase()];
    if (typeof value !== "string") return undefined;
    if (scheme === undefined) return this.#accounts.get(value);
    const space = value.indexOf(" ");
    const matches = space > 0 && value.slice(0, space).toLowerCase() === scheme.toLowerCase();
    return matches ? this.#accounts.get(value.slice(space + 1).trimStart()) : undefined;
  }

  /** Replaces a key. The old one stops working at once. @throws EmulatorError when either key is unusable */
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
        "Cannot rotate an API key: the new one is empty or already in use.",
      );
    }
    this.#accounts.delete(oldKey);
    this.#accounts.set(newKey, account);
  }
}
