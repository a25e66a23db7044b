import {
  type Endpoint,
  type EndpointList,
  type Registration,
  WebhookEndpointNotFoundError,
  type WebhooksClient,
} from "../client";
import type { Clock } from "../client/clock";
import { type Row, rowsOf } from "../client/endpoint";
import type { EngineLog } from "./engine";
import { describeResponse, hasResponse } from "./shownResponse";

/** How long one list serves, in milliseconds. The reads of a run, and its registrations, come within moments of each other. */
const LIST_LIFETIME_MS = 10_000;

interface ServiceOptions {
  readonly clock: Clock;
  readonly log: Pick<EngineLog, "warn">;
  /** Ends requests that only read: a cancelled run does not need their responses. */
  readonly cancelled: AbortSignal | undefined;
  /** The API key: warnings show the service's responses to requests that it refused, without it. Undefined: none does. */
  readonly showResponsesWithout: string | undefined;
}

/** A list of the service. */
export interface Listing extends EndpointList {
  /** When it was asked for, on this process's clock. */
  readonly sentAt: number;
  /** Its rows, also those that cannot be read. */
  readonly rowsById: ReadonlyMap<string, Row>;
}

/** The service says that it has no endpoint with an id, by 404 or 410. A proxy or a replica may have said so: see `existence.ts`. */
export interface Denial {
  /** When it arrived, on this process's clock. */
  readonly deniedAt: number;
  readonly cause?: WebhookEndpointNotFoundError;
}

export function isDenial(answer: Row | Denial): answer is Denial {
  return "deniedAt" in answer;
}

/**
 * The service, as one run meets it. A refresh costs one request instead of one for each endpoint (engine rule 18), and so do the looks
 * before registrations: they share a list for some seconds. What this run registers meanwhile, it knows.
 */
export class Service {
  #shared: { readonly listing: Promise<Listing>; readonly sentAt: number } | undefined;
  #underWay: Promise<Listing> | undefined;
  /** The last two, the newer one first. */
  #recent: readonly Listing[] = [];
  /** The times of both clocks when a list last told the service's. */
  #told:
    | { readonly serviceTime: number; readonly processTime: number; readonly processDate: number }
    | undefined;

  constructor(
    private readonly client: WebhooksClient,
    private readonly options: ServiceOptions,
  ) {}

  /** Returns every endpoint, as it was at most ten seconds ago. A list that failed is asked for again. */
  list(): Promise<Listing> {
    const { clock } = this.options;
    if (this.#shared === undefined || clock.now() - this.#shared.sentAt > LIST_LIFETIME_MS) {
      const shared = { listing: this.#ask(), sentAt: clock.now() };
      shared.listing.catch(() => {
        if (this.#shared === shared) this.#shared = undefined;
      });
      this.#shared = shared;
    }
    return this.#shared.listing;
  }

  /** Returns every endpoint, as it is now. */
  listNow(): Promise<Listing> {
    this.#shared = undefined;
    return this.list();
  }

  /** Returns the newest list of this run, however old it is. */
  async anyList(): Promise<Listing> {
    return this.#recent[0] ?? this.list();
  }

  /** Returns the lists of the last ten seconds, two at most, the newer one first. */
  get recentLists(): readonly Listing[] {
    const { clock } = this.options;
    return this.#recent.filter(({ sentAt }) => clock.now() - sentAt <= LIST_LIFETIME_MS);
  }

  /** Waits for the list that is under way, or asks for one. So many that wait share what is asked for next. */
  async nextList(): Promise<void> {
    await (this.#underWay?.catch(() => undefined) ?? this.listNow());
  }

  #ask(): Promise<Listing> {
    const { cancelled, clock } = this.options;
    const sentAt = clock.now();
    const asking = this.#shown(this.client.list({ signal: cancelled })).then((list) => {
      if (list.serverTime !== null)
        this.#told = { serviceTime: list.serverTime, processTime: clock.now(), processDate: clock.date() };
      const listing = { ...list, sentAt, rowsById: new Map(rowsOf(list).map((row) => [row.id, row])) };
      this.#recent = [listing, ...this.#recent].sort((a, b) => b.sentAt - a.sentAt).slice(0, 2);
      return listing;
    });
    const ended = () => {
      if (this.#underWay === asking) this.#underWay = undefined;
    };
    this.#underWay = asking;
    asking.then(ended, ended);
    return asking;
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

  /** Asks for one endpoint. */
  get(id: string): Promise<Endpoint | Denial> {
    return this.#shown(this.client.get(id, { signal: this.options.cancelled })).catch((error) =>
      this.#denial(error),
    );
  }

  /** Deletes an endpoint. Returns undefined if the service has deleted it, and what it said if it denies that there is any. */
  async delete(id: string): Promise<Denial | undefined> {
    let isDenied = false;
    const onDenied = () => {
      isDenied = true;
    };
    const denial = await this.#shown(this.client.delete(id, { onDenied })).catch((error) =>
      this.#denial(error),
    );
    this.#shared = undefined;
    return denial ?? (isDenied ? { deniedAt: this.options.clock.now() } : undefined);
  }

  /** @throws any other error */
  #denial(error: unknown): Denial {
    if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
    return { deniedAt: this.options.clock.now(), cause: error };
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
