import {
  type ClientEnvironment,
  type Endpoint,
  type EndpointList,
  type Registration,
  WebhooksClient,
  type WebhooksClientOptions,
} from "../client";
import { type Clock, sleep } from "../client/clock";
import { isGone, isUnauthorized } from "./errors";

/** How long one list serves reads, in milliseconds. The reads of a run come within moments of each other. */
const LIST_LIFETIME_MS = 10_000;
/** How long the first read waits for others, in milliseconds: one read alone is a get, several share a list. */
const GATHERING_MS = 20;

/**
 * The client of one run. A refresh costs one request instead of one for each endpoint (engine rule 18): several reads share
 * one list until the run changes something at the service or some seconds have passed.
 */
export class Service extends WebhooksClient {
  /** The service's clock less ours, in milliseconds; null until the service has sent its time. */
  skew: number | null = null;
  /** True once any `find` of this run has found its endpoint. */
  hasFound = false;
  readonly #clock: Clock;
  #baseline: Promise<EndpointList> | undefined;
  #shared: Promise<EndpointList | undefined> | undefined;
  #sharedAt = 0;
  #gathering: Promise<unknown> | undefined;
  #reads = 0;

  constructor(options: WebhooksClientOptions, environment: ClientEnvironment & { readonly clock: Clock }) {
    super(options, environment);
    this.#clock = environment.clock;
  }

  /** The endpoints that were there before the run registered any. A list that fails is asked for again. */
  baseline(): Promise<EndpointList> {
    this.#baseline ??= this.list().catch((error: unknown) => {
      this.#baseline = undefined;
      throw error;
    });
    return this.#baseline;
  }

  override async list(): Promise<EndpointList> {
    const list = await super.list();
    if (list.serverTime !== null) this.skew = list.serverTime - this.#clock.date();
    return list;
  }

  override register(registration: Registration): Promise<Endpoint> {
    return super.register(registration).finally(() => this.#forget());
  }

  override delete(id: string): Promise<void> {
    return super.delete(id).finally(() => this.#forget());
  }

  /**
   * Reads an endpoint, or returns undefined when the service has none with this id. An endpoint that the shared list lacks
   * is confirmed missing by a get; a partial or failed list proves nothing.
   */
  async find(id: string): Promise<Endpoint | undefined> {
    this.#reads += 1;
    this.#gathering ??= sleep(GATHERING_MS, { clock: this.#clock, signal: undefined });
    await this.#gathering;
    const listed =
      this.#reads > 1 ? (await this.#share())?.endpoints.find((each) => each.id === id) : undefined;
    const endpoint = listed ?? (await this.get(id).catch(undefinedIfGone));
    if (endpoint) this.hasFound = true;
    return endpoint;
  }

  #share(): Promise<EndpointList | undefined> {
    if (this.#shared === undefined || this.#clock.now() - this.#sharedAt > LIST_LIFETIME_MS) {
      this.#sharedAt = this.#clock.now();
      this.#shared = this.list().catch((error: unknown) => {
        // A key that is refused for the list is refused for each get too. One request shows that.
        if (isUnauthorized(error)) throw error;
        return undefined;
      });
    }
    return this.#shared;
  }

  /** Drops the shared list: after a write it is out of date. */
  #forget(): void {
    this.#shared = undefined;
  }
}

function undefinedIfGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}
