import type { EndpointType } from "../shared/endpointType";
import { EmulatorError } from "./emulatorError";

/** The types of endpoints. Each has signing secrets of its own. */
export type EmulatedEndpointType = EndpointType;

/** The properties of an endpoint. */
export interface EndpointInput {
  /** Where deliveries go. */
  readonly url: string;
  /** What the endpoint is for. */
  readonly type: EmulatedEndpointType;
  /** The filter of addresses. The API accepts it and never returns it; the emulator's own deliveries ignore it. */
  readonly ip?: string;
  /** When it was registered, in ISO 8601. Default: now. */
  readonly createdAt?: string;
}

/** A frozen snapshot of an endpoint. */
export interface EmulatedEndpoint extends EndpointInput {
  /** The id that the emulator assigned. */
  readonly id: string;
  /** The account that owns it. */
  readonly account: string;
  /** When it was registered, in ISO 8601. */
  readonly createdAt: string;
  /** When it was last changed, in ISO 8601. */
  readonly updatedAt: string;
}

interface RegistryOptions {
  readonly now: () => number;
  readonly newId: (account: string) => string;
  readonly initial: readonly EmulatedEndpoint[];
  /** Called after each change. May throw, if the change cannot be saved. */
  readonly onChange: () => void;
}

/** Holds the endpoints of every account in the order of registration. */
export class Registry {
  readonly #endpoints: Map<string, EmulatedEndpoint>;

  constructor(private readonly options: RegistryOptions) {
    this.#endpoints = new Map(options.initial.map((endpoint) => [endpoint.id, Object.freeze(endpoint)]));
  }

  /** Returns the endpoints of one account, or of all. */
  list(account?: string): EmulatedEndpoint[] {
    return [...this.#endpoints.values()].filter((each) => account === undefined || each.account === account);
  }

  get(account: string, id: string): EmulatedEndpoint | undefined {
    return this.list(account).find((endpoint) => endpoint.id === id);
  }

  /** Returns an endpoint of any account. @throws EmulatorError that says what cannot be done to it */
  found(id: string, doing: string): EmulatedEndpoint {
    const endpoint = this.#endpoints.get(id);
    if (endpoint !== undefined) return endpoint;
    const message = `Cannot ${doing} endpoint ${id}: it is not registered. endpoints() lists the registered endpoints.`;
    throw new EmulatorError("EMULATOR_ARGUMENT", message);
  }

  add(account: string, input: EndpointInput): EmulatedEndpoint {
    const { createdAt = this.#timestamp() } = input;
    const id = this.options.newId(account);
    return this.#set({ ...input, id, account, createdAt, updatedAt: createdAt });
  }

  edit(id: string, change: Partial<EndpointInput>): EmulatedEndpoint {
    return this.#set({ ...this.found(id, "edit"), ...change, updatedAt: this.#timestamp() });
  }

  remove(id: string): EmulatedEndpoint {
    const endpoint = this.found(id, "remove");
    this.#endpoints.delete(id);
    this.options.onChange();
    return endpoint;
  }

  #set(endpoint: EmulatedEndpoint): EmulatedEndpoint {
    this.#endpoints.set(endpoint.id, Object.freeze(endpoint));
    this.options.onChange();
    return endpoint;
  }

  #timestamp(): string {
    return new Date(this.options.now()).toISOString();
  }
}
