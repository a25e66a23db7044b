import { isUrl } from "../shared/url";
import type { EventTarget } from "./deliveries/event";
import type { AddedEndpoint, EmulatedEndpoint, EndpointInput } from "./endpoint";
import { EmulatorError } from "./errors";
import type { SavedData } from "./savedData";

interface RegistryOptions {
  readonly now: () => number;
  readonly newId: (account: string) => string;
  readonly normalizeUrls: boolean;
  readonly initial: SavedData["accounts"];
  readonly onChange: () => void;
}

/** Holds the endpoints of every account in the order of registration. */
export class Registry {
  readonly #accounts = new Map<string, Map<string, EmulatedEndpoint>>();

  constructor(private readonly options: RegistryOptions) {
    for (const [account, endpoints] of Object.entries(options.initial)) {
      for (const endpoint of endpoints) {
        this.#of(account).set(endpoint.id, Object.freeze({ ...endpoint, ip: endpoint.ip }));
      }
    }
  }

  get accounts(): Iterable<string> {
    return this.#accounts.keys();
  }

  /** Returns the endpoints of one account, or of all. */
  list(account?: string): EmulatedEndpoint[] {
    const names = account === undefined ? [...this.#accounts.keys()] : [account];
    return names.flatMap((name) => [...(this.#accounts.get(name)?.values() ?? [])]);
  }

  get(account: string, id: string): EmulatedEndpoint | undefined {
    return this.#accounts.get(account)?.get(id);
  }

  /** Returns an endpoint of any account, or of one. @throws EmulatorError that says what cannot be done to it */
  found(
    id: string,
    doing: string,
    { hint = "", wanted }: { hint?: string; wanted?: string | undefined } = {},
  ) {
    for (const [account, endpoints] of this.#accounts) {
      const endpoint = endpoints.get(id);
      if (endpoint !== undefined && account === (wanted ?? account)) return { account, endpoint };
    }
    const message = `Cannot ${doing} endpoint ${id}: it is not registered.${hint}`;
    throw new EmulatorError("EMULATOR_UNKNOWN_ENDPOINT", message);
  }

  /** Returns the endpoints that an event goes to, and their account. @throws EmulatorError for an unknown endpoint */
  select(
    { endpointId, endpointType, account }: EventTarget,
    homeAccount: string,
  ): { account: string; endpoints: EmulatedEndpoint[] } {
    const owner =
      endpointId === undefined
        ? (account ?? homeAccount)
        : this.found(endpointId, "deliver to", { wanted: account }).account;
    const endpoints = this.list(owner)
      .filter(({ id }) => endpointId === undefined || id === endpointId)
      .filter(({ type }) => endpointType === undefined || type === endpointType);
    return { account: owner, endpoints };
  }

  add(account: string, input: AddedEndpoint): EmulatedEndpoint {
    const at = input.createdAt ?? this.#timestamp();
    return this.#put(account, {
      id: this.options.newId(account),
      url: this.#spelled(input.url),
      type: input.type,
      ip: input.ip,
      createdAt: at,
      updatedAt: at,
    });
  }

  replace(account: string, endpoint: EmulatedEndpoint, change: Partial<EndpointInput>): EmulatedEndpoint {
    const { id } = endpoint;
    const { url, type, ip, createdAt } = { ...endpoint, ...change };
    const updatedAt = this.#timestamp();
    return this.#put(account, { id, url: this.#spelled(url), type, ip, createdAt, updatedAt });
  }

  remove(account: string, id: string): boolean {
    const removed = this.#accounts.get(account)?.delete(id) ?? false;
    if (removed) this.options.onChange();
    return removed;
  }

  snapshot(): SavedData["accounts"] {
    return Object.fromEntries([...this.#accounts.keys()].map((account) => [account, this.list(account)]));
  }

  #put(account: string, endpoint: EmulatedEndpoint): EmulatedEndpoint {
    const frozen = Object.freeze(endpoint);
    this.#of(account).set(frozen.id, frozen);
    this.options.onChange();
    return frozen;
  }

  #of(account: string): Map<string, EmulatedEndpoint> {
    const endpoints = this.#accounts.get(account) ?? new Map<string, EmulatedEndpoint>();
    this.#accounts.set(account, endpoints);
    return endpoints;
  }

  #spelled(url: string): string {
    return this.options.normalizeUrls && isUrl(url) ? new URL(url).href : url;
  }

  #timestamp(): string {
    return new Date(this.options.now()).toISOString();
  }
}
