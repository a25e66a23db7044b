import {
  type Endpoint,
  type EndpointList,
  type Registration,
  WebhookEndpointNotFoundError,
  WebhookError,
  type WebhooksClient,
} from "../client";
import { type Clock, sleep } from "../client/clock";
import { undefinedIfGone } from "../client/errors";
import { whileNew } from "../settlement/lag";
import { ServiceClock } from "../settlement/serviceClock";
import type { EngineLog } from "./engine";
import { isUnauthorized } from "./errors";
import { describeAnswer, hasAnswer } from "./shownAnswer";

/** How long one list serves reads, in milliseconds. The reads of a run come within moments of each other. */
const LIST_LIFETIME_MS = 10_000;
/** How long the first read waits for others, in milliseconds: one read alone is a get, several share a list. */
const GATHERING_MS = 20;
/** How long an operation must take to be worth a line, in milliseconds. */
const SLOW_MS = 2_000;

interface ServiceOptions {
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Ends requests that only read: a cancelled run does not need their answers. */
  readonly cancelled: AbortSignal | undefined;
  /** The API key, to warn with the service's answers to requests that it refused. Undefined: don't. */
  readonly showAnswersTo: string | undefined;
}

/**
 * The service, as one run meets it. A refresh costs one request instead of one for each endpoint (engine rule 18): several reads
 * share one list until the run changes something at the service or some seconds have passed.
 */
export class Service extends ServiceClock {
  /** True once any `find` of this run has found its endpoint. */
  hasFound = false;
  #baseline: Promise<EndpointList> | undefined;
  #baselineAt = this.moment();
  #before: Promise<EndpointList | undefined> | undefined;
  #shared: Promise<EndpointList | undefined> | undefined;
  #sharedAt = 0;
  #gathering: Promise<unknown> | undefined;
  #reads = 0;
  /** The operations that the user knows to be slow. */
  readonly #slow = new Set<string>();

  constructor(
    private readonly client: WebhooksClient,
    private readonly options: ServiceOptions,
  ) {
    super(options.clock);
  }

  /**
   * The endpoints that were there a moment ago. Registrations share a list for some seconds; one that fails is asked for again.
   *
   * @param known ids that another process has written down: a list that lacks one may be older than it
   */
  async baseline(known: readonly string[] = []): Promise<EndpointList> {
    const listed = await this.#baseline?.catch(() => undefined);
    const isOld = known.some((id) => !listed?.endpoints.some((endpoint) => endpoint.id === id));
    if (this.#baseline === undefined || isOld || this.since(this.#baselineAt) > LIST_LIFETIME_MS) {
      this.#baselineAt = this.moment();
      this.#baseline = this.list().catch((error: unknown) => {
        this.#baseline = undefined;
        throw error;
      });
    }
    return this.#baseline;
  }

  /** Returns an endpoint as it was before the run changed anything; undefined if there was none. Asks for it unless a complete list tells. */
  async foundBefore(id: string): Promise<Endpoint | EndpointList["unrecognized"][number] | undefined> {
    this.#before ??= this.baseline().catch(() => undefined);
    const list = await this.#before;
    const listed = [...(list?.endpoints ?? []), ...(list?.unrecognized ?? [])].find((each) => each.id === id);
    // A list may show less of an endpoint than the service answers for it alone.
    if (listed?.url === null) return (await this.find(id).catch(() => undefined)) ?? listed;
    return listed ?? (list?.complete === true ? undefined : this.find(id));
  }

  list = async (): Promise<EndpointList> =>
    this.noted(await this.#watched("list", this.client.list({ signal: this.options.cancelled })));

  /** @param onSend called right before each attempt */
  register = (registration: Registration, onSend: () => void): Promise<Endpoint> =>
    this.#watched("register", this.client.register(registration, { onSend })).finally(() => this.#forget());

  get(id: string): Promise<Endpoint> {
    return this.#watched("get", this.client.get(id, { signal: this.options.cancelled }));
  }

  /**
   * Deletes an endpoint. When the service says that it has none with this id but still lists it, asks once more.
   *
   * @param newForMs how much longer the service may not know it, in milliseconds
   * @throws WebhookEndpointNotFoundError when there was nothing to delete
   */
  async delete(id: string, newForMs = 0): Promise<void> {
    const { clock } = this.options;
    const attempt = async (): Promise<WebhookError | undefined> => {
      const startedAt = clock.now();
      const gone = await this.#tryDelete(id);
      if (!gone || !(await this.#findListed(id, startedAt))) return gone;
      const still = await this.#tryDelete(id);
      return still && contradicted(id, still);
    };
    const failed = await whileNew(attempt, (failure) => failure === undefined, { clock, forMs: newForMs });
    if (failed) throw failed;
  }

  /** Deletes an endpoint, or returns the service's answer that it has none with this id. */
  async #tryDelete(id: string): Promise<WebhookEndpointNotFoundError | undefined> {
    try {
      await this.#watched("delete", this.client.delete(id));
    } catch (error) {
      if (error instanceof WebhookEndpointNotFoundError) return error;
      this.#forget();
      throw error;
    }
    this.#forget();
    return undefined;
  }

  /**
   * Reads an endpoint, or returns undefined when the service has none with this id: a get says so, and no list contradicts
   * it. A partial or failed list proves nothing.
   */
  find = async (id: string): Promise<Endpoint | undefined> => {
    this.#reads += 1;
    this.#gathering ??= sleep(GATHERING_MS, { clock: this.options.clock, signal: undefined });
    await this.#gathering;
    const listed = this.#reads > 1 ? await this.#findListed(id) : undefined;
    const endpoint = listed ?? (await this.get(id).catch(undefinedIfGone)) ?? (await this.#findListed(id));
    if (endpoint) this.hasFound = true;
    return endpoint;
  };

  /** As `find`, for an endpoint that the service may not know for some milliseconds more. */
  findNew(id: string, newForMs: number): Promise<Endpoint | undefined> {
    const { clock } = this.options;
    return whileNew(
      () => this.find(id),
      (found) => found !== undefined,
      { clock, forMs: newForMs },
    );
  }

  /** Looks in a list that is not older than so, or returns undefined when there is no list. */
  async #findListed(id: string, since?: number): Promise<Endpoint | undefined> {
    return (await this.#share(since))?.endpoints.find((each) => each.id === id);
  }

  #share(since = this.options.clock.now() - LIST_LIFETIME_MS): Promise<EndpointList | undefined> {
    if (this.#shared === undefined || this.#sharedAt < since) {
      this.#sharedAt = this.options.clock.now();
      this.#shared = this.list().catch((error: unknown) => {
        // A key that is refused for the list is refused for each get too. One request shows that.
        if (isUnauthorized(error)) throw error;
        return undefined;
      });
    }
    return this.#shared;
  }

  /** Logs once for each operation that the run waits for the service, and shows a refusal if the user wants that. */
  #watched<T>(operation: string, answer: Promise<T>): Promise<T> {
    const { clock, log, showAnswersTo } = this.options;
    const cancel = clock.after(SLOW_MS, () => {
      if (this.#slow.size < this.#slow.add(operation).size)
        log.info(`waiting for the service: ${operation} takes longer than ${SLOW_MS / 1000} s`);
    });
    return answer.finally(cancel).catch((error: unknown) => {
      if (showAnswersTo !== undefined && hasAnswer(error) && !(error instanceof WebhookEndpointNotFoundError))
        log.warn(describeAnswer(error, showAnswersTo));
      throw error;
    });
  }

  /** Drops the shared list: after a write it is out of date. */
  #forget(): void {
    this.#shared = undefined;
  }
}

function contradicted(id: string, cause: WebhookEndpointNotFoundError): WebhookError {
  const reason =
    `endpoint ${id} was not deleted: the service answered ${cause.statusCode}, but it still lists the endpoint. Run the same ` +
    "command again. If it keeps failing and the endpoint is gone, run `pulumi state delete` for its resource.";
  return new WebhookError(reason, { code: "REJECTED", statusCode: cause.statusCode, cause });
}
