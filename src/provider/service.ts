import {
  type Endpoint,
  type EndpointList,
  type Registration,
  WebhookEndpointNotFoundError,
  type WebhooksClient,
} from "../client";
import type { Clock } from "../client/clock";
import { undefinedIfGone } from "../client/errors";
import type { EngineLog } from "./engine";
import { isUnauthorized } from "./errors";
import { describeResponse, hasResponse } from "./shownResponse";

/** How long one list serves, in milliseconds. The reads of a run, and its registrations, come within moments of each other. */
const LIST_LIFETIME_MS = 10_000;
interface ServiceOptions {
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Ends requests that only read: a cancelled run does not need their responses. */
  readonly cancelled: AbortSignal | undefined;
  /** The API key: warnings show the service's responses to requests that it refused, without it. Undefined: none does. */
  readonly showResponsesWithout: string | undefined;
}

/**
 * The service, as one run meets it. A refresh costs one request instead of one for each endpoint (engine rule 18), and so do the looks
 * before registrations: they share a list for some seconds. What this run registers meanwhile, its memory knows.
 */
export class Service {
  #shared: Promise<EndpointList> | undefined;
  #sharedAt = 0;
  /** The times of both clocks when a list last told the service's. */
  #told:
    | { readonly serviceTime: number; readonly processTime: number; readonly processDate: number }
    | undefined;

  constructor(
    private readonly client: WebhooksClient,
    private readonly options: ServiceOptions,
  ) {}

  /** Returns every endpoint, as it was at most ten seconds ago. A list that failed is asked for again. */
  list(): Promise<EndpointList> {
    const { clock } = this.options;
    if (this.#shared === undefined || clock.now() - this.#sharedAt > LIST_LIFETIME_MS) {
      this.#sharedAt = clock.now();
      const asked = this.#ask();
      asked.catch(() => {
        if (this.#shared === asked) this.#shared = undefined;
      });
      this.#shared = asked;
    }
    return this.#shared;
  }

  /** Returns every endpoint, as it is now. */
  listNow(): Promise<EndpointList> {
    this.#shared = undefined;
    return this.list();
  }

  async #ask(): Promise<EndpointList> {
    const list = await this.#shown(this.client.list({ signal: this.options.cancelled }));
    const { clock } = this.options;
    if (list.serverTime !== null)
      this.#told = { serviceTime: list.serverTime, processTime: clock.now(), processDate: clock.date() };
    return list;
  }

  /**
   * Returns the service's time, in milliseconds since 1970. Null until a list has told it, and after the machine has slept: the clock
   * that never goes back may stand still meanwhile.
   */
  time(): number | null {
    if (this.#told === undefined) return null;
    const { clock } = this.options;
    const passed = clock.now() - this.#told.processTime;
    const hasSlept = Math.abs(clock.date() - this.#told.processDate - passed) > 1_000;
    return hasSlept ? null : Math.round(this.#told.serviceTime + passed);
  }

  /** @param onSend called right before each attempt: the registration may have waited for its turn until then */
  register(registration: Registration, onSend: () => void): Promise<Endpoint> {
    return this.#shown(this.client.register(registration, { onSend }));
  }

  get(id: string): Promise<Endpoint> {
    return this.#shown(this.client.get(id, { signal: this.options.cancelled }));
  }

  /** @throws WebhookEndpointNotFoundError when there was nothing to delete, and the service can list what there is */
  async delete(id: string): Promise<void> {
    try {
      await this.#shown(this.client.delete(id));
    } catch (error) {
      // A proxy without its service responds with 404 to everything. Where a list works, 404 means that the endpoint is gone.
      if (error instanceof WebhookEndpointNotFoundError) await this.listNow();
      throw error;
    }
    this.#shared = undefined;
  }

  /**
   * Reads an endpoint, or returns undefined when the service has none with this id: a get says so. Reads share a list, and only what
   * that lacks is asked for alone.
   */
  async find(id: string): Promise<Endpoint | undefined> {
    const list = await this.list().catch((error: unknown) => {
      // A key that is refused for the list is refused for each get too. One request shows that.
      if (isUnauthorized(error)) throw error;
      return undefined;
    });
    const listed = list?.endpoints.find((each) => each.id === id);
    const endpoint = listed ?? (await this.get(id).catch(undefinedIfGone));
    // As for `delete`: without a list, nothing shows that the service itself responded.
    if (endpoint === undefined) await this.list();
    return endpoint;
  }

  /** Shows a refusal if the user wants that. */
  #shown<T>(result: Promise<T>): Promise<T> {
    const { log, showResponsesWithout } = this.options;
    return result.catch((error: unknown) => {
      if (
        showResponsesWithout !== undefined &&
        hasResponse(error) &&
        !(error instanceof WebhookEndpointNotFoundError)
      )
        log.warn(describeResponse(error, showResponsesWithout));
      throw error;
    });
  }
}
