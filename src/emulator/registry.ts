import { EmulatorError } from "./errors";

/** The types of endpoints. Each has signing secrets of its own. */
export type EmulatedEndpointType = "production" | "development";
export const ENDPOINT_TYPES: readonly EmulatedEndpointType[] = ["production", "development"];

/** The properties of a registration. */
export interface EndpointInput {
  /** Where deliveries go. */
  readonly url: string;
  /** What the endpoint is for. */
  readonly type: EmulatedEndpointType;
  /** The filter of addresses. The API accepts it and never returns it; the emulator's own deliveries ignore it. */
  readonly ip?: string | undefined;
}

/** An endpoint to add without a request. */
export interface AddedEndpoint extends EndpointInput {
  /** When it was created, in ISO 8601. Default: now. */
  readonly createdAt?: string | undefined;
}

/** A frozen snapshot of an endpoint. */
export interface EmulatedEndpoint extends EndpointInput {
  /** The id that the emulator assigned. */
  readonly id: string;
  /** When it was registered, as an ISO 8601 string. */
  readonly createdAt: string;
  /** When it was last changed, as an ISO 8601 string. */
  readonly updatedAt: string;
}

/** The endpoints by account, as the data file keeps them. */
export type SavedAccounts = Readonly<Record<string, readonly EmulatedEndpoint[]>>;

interface RegistryOptions {
  readonly now: () => number;
  readonly newId: (account: string) => string;
  readonly initial: SavedAccounts;
  /** Called after each change. May throw, if the change cannot be saved. */
  readonly onChange: () => void;
}

/** Holds the endpoints of every account in the order of registration. */
export class Registry {
  readonly #accounts = new Map<string, Map<string, EmulatedEndpoint>>();

  constructor(private readonly options: RegistryOptions) {
    for (const [account, endpoints] of Object.entries(options.initial))
      for (const endpoint of endpoints) this.#of(account).set(endpoint.id, Object.freeze(endpoint));
  }

  get accounts(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** Returns the endpoints of one account, or of all. */
  list(account?: string): EmulatedEndpoint[] {
    const names = account === undefined ? this.accounts : [account];
    return names.flatMap((name) => [...(this.#accounts.get(name)?.values() ?? [])]);
  }

  get(account: string, id: string): EmulatedEndpoint | undefined {
    return this.#accounts.get(account)?.get(id);
  }

  /** Returns an endpoint and its account. @throws EmulatorError that says what cannot be done to it */
  found(id: string, doing: string): { readonly account: string; readonly endpoint: EmulatedEndpoint } {
    for (const account of this.accounts) {
      const endpoint = this.get(account, id);
      if (endpoint !== undefined) return { account, endpoint };
    }
    const message = `Cannot ${doing} endpoint ${id}: it is not registered. endpoints() lists the registered endpoints.`;
    throw new EmulatorError("EMULATOR_ARGUMENT", message);
  }

  add(account: string, { url, type, ip, createdAt = this.#timestamp() }: AddedEndpoint): EmulatedEndpoint {
    const id = this.options.newId(account);
    return this.#put(account, { id, url, type, ip, createdAt, updatedAt: createdAt });
  }

  edit(id: string, change: Partial<EndpointInput>): EmulatedEndpoint {
    const { account, endpoint } = this.found(id, "edit");
    const { url, type, ip, createdAt } = { ...endpoint, ...change };
    return this.#put(account, { id, url, type, ip, createdAt, updatedAt: this.#timestamp() });
  }

  /** Returns whether the account had this endpoint. */
  remove(account: string, id: string): boolean {
    const removed = this.#accounts.get(account)?.delete(id) ?? false;
    if (removed) this.options.onChange();
    return removed;
  }

  snapshot(): SavedAccounts {
    return Object.fromEntries(this.accounts.map((account) => [account, this.list(account)]));
  }

  #put(account: string, endpoint: EmulatedEndpoint): EmulatedEndpoint {
    this.#of(account).set(endpoint.id, Object.freeze(endpoint));
    this.options.onChange();
    return endpoint;
  }

  #of(account: string): Map<string, EmulatedEndpoint> {
    const endpoints = this.#accounts.get(account) ?? new Map<string, EmulatedEndpoint>();
    this.#accounts.set(account, endpoints);
    return endpoints;
  }

  #timestamp(): string {
    return new Date(this.options.now()).toISOString();
  }
}
