import { DataFile, type EndpointsByAccount, loadDataFile } from "./dataFile";
import type { EmulatedEndpoint, EndpointInput } from "./endpoint";

export interface RegistryOptions {
  readonly now: () => number;
  readonly newId: () => string;
  readonly normalizeUrls: boolean;
  readonly dataFile: string | undefined;
}

/** Holds the endpoints of every account in the order of registration, and saves them to the data file. */
export class Registry {
  readonly #accounts = new Map<string, Map<string, EmulatedEndpoint>>();
  readonly #file: DataFile | undefined;
  readonly #options: RegistryOptions;

  /** @throws EmulatorError when the data file cannot be read */
  constructor(options: RegistryOptions) {
    this.#options = options;
    if (options.dataFile === undefined) return;
    for (const [account, endpoints] of Object.entries(loadDataFile(options.dataFile))) {
      for (const endpoint of endpoints) {
        this.#of(account).set(endpoint.id, Object.freeze({ ...endpoint, ip: endpoint.ip }));
      }
    }
    this.#file = new DataFile(options.dataFile, () => this.#snapshot());
  }

  get accounts(): Iterable<string> {
    return this.#accounts.keys();
  }

  list(account: string): EmulatedEndpoint[] {
    return [...(this.#accounts.get(account)?.values() ?? [])];
  }

  get(account: string, id: string): EmulatedEndpoint | undefined {
    return this.#accounts.get(account)?.get(id);
  }

  accountOf(id: string): string | undefined {
    for (const [account, endpoints] of this.#accounts) if (endpoints.has(id)) return account;
    return undefined;
  }

  add(account: string, input: EndpointInput): EmulatedEndpoint {
    const at = this.#timestamp();
    return this.#put(account, {
      id: this.#options.newId(),
      url: this.#spelled(input.url),
      type: input.type,
      ip: input.ip,
      createdAt: at,
      updatedAt: at,
    });
  }

  replace(account: string, endpoint: EmulatedEndpoint, change: Partial<EndpointInput>): EmulatedEndpoint {
    const changed = { ...endpoint, ...change };
    return this.#put(account, {
      ...changed,
      ip: changed.ip,
      url: this.#spelled(changed.url),
      updatedAt: this.#timestamp(),
    });
  }

  remove(account: string, id: string): boolean {
    const removed = this.#accounts.get(account)?.delete(id) ?? false;
    if (removed) this.#file?.changed();
    return removed;
  }

  /** Resolves when the data file holds every change made so far. @throws EmulatorError when it cannot be written */
  async saved(): Promise<void> {
    await this.#file?.flush();
  }

  #put(account: string, endpoint: EmulatedEndpoint): EmulatedEndpoint {
    const frozen = Object.freeze(endpoint);
    this.#of(account).set(frozen.id, frozen);
    this.#file?.changed();
    return frozen;
  }

  #of(account: string): Map<string, EmulatedEndpoint> {
    const endpoints = this.#accounts.get(account) ?? new Map<string, EmulatedEndpoint>();
    this.#accounts.set(account, endpoints);
    return endpoints;
  }

  #spelled(url: string): string {
    return this.#options.normalizeUrls ? new URL(url).href : url;
  }

  #timestamp(): string {
    return new Date(this.#options.now()).toISOString();
  }

  #snapshot(): EndpointsByAccount {
    return Object.fromEntries([...this.#accounts.keys()].map((account) => [account, this.list(account)]));
  }
}
