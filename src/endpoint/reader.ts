import type { Endpoint, EndpointList, WebhooksClient } from "../client";
import { type Clock, sleep, systemClock } from "../client/clock";
import { isNotFound, isUnauthorized } from "./errors";

/** How long one list answers reads, in milliseconds: the reads of a run come within moments of each other. */
const listLifetimeMs = 10_000;
/** How long the first read waits for company, in milliseconds: alone it is a get, otherwise a list. */
const companyMs = 20;

/**
 * Reads endpoints so that a refresh costs one request, not one an endpoint (engine rule 18). One read alone is one get;
 * more of them share one list until this process writes or some seconds have passed. An endpoint that the list lacks is
 * looked for by a get before it is called missing, and a list that is partial or cannot be had is no evidence at all.
 */
export class Reader {
  #list: Promise<EndpointList | undefined> | undefined;
  #listedAt = 0;
  #first: Promise<unknown> | undefined;
  #reads = 0;

  constructor(
    private readonly client: Pick<WebhooksClient, "get" | "list">,
    private readonly clock: Clock = systemClock,
  ) {}

  /** The endpoint, or undefined when the service says that there is none of this id. */
  async find(id: string): Promise<Endpoint | undefined> {
    this.#reads += 1;
    this.#first ??= sleep(companyMs, { clock: this.clock, signal: undefined });
    await this.#first;
    if (this.#reads > 1) {
      const listed = (await this.#shared())?.endpoints.find((endpoint) => endpoint.id === id);
      if (listed) return listed;
    }
    try {
      return await this.client.get(id);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** To be called after each write: what was listed before it is out of date. */
  forget(): void {
    this.#list = undefined;
  }

  #shared(): Promise<EndpointList | undefined> {
    if (this.#list === undefined || this.clock.now() - this.#listedAt > listLifetimeMs) {
      this.#listedAt = this.clock.now();
      this.#list = this.client.list().catch((error: unknown) => {
        // A key that is refused for the list is refused for each get too: once is enough.
        if (isUnauthorized(error)) throw error;
        return undefined;
      });
    }
    return this.#list;
  }
}
