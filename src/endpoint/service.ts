import {
  type ClientEnvironment,
  type Endpoint,
  type EndpointList,
  type OperationOptions,
  type Registration,
  WebhookEndpointNotFoundError,
  WebhookError,
  WebhooksClient,
  type WebhooksClientOptions,
} from "../client";
import { type Clock, sleep } from "../client/clock";
import type { EngineLog } from "./engine";
import { isGone, isUnauthorized, undefinedIfGone } from "./errors";
import { describeAnswer, hasAnswer } from "./shownAnswer";

/** How long one list serves reads, in milliseconds. The reads of a run come within moments of each other. */
const LIST_LIFETIME_MS = 10_000;
/** How long the first read waits for others, in milliseconds: one read alone is a get, several share a list. */
const GATHERING_MS = 20;
/** How long an operation must take to be worth a line, in milliseconds. */
const SLOW_MS = 2_000;

interface Surroundings extends ClientEnvironment {
  readonly clock: Clock;
  readonly log: EngineLog;
  /** True to warn with the service's answers to requests that it refused. */
  readonly showResponses: boolean;
}

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
  /** The operations that the user knows to be slow. */
  readonly #slow = new Set<string>();

  constructor(
    private readonly settings: WebhooksClientOptions,
    private readonly surroundings: Surroundings,
  ) {
    super(settings, surroundings);
    this.#clock = surroundings.clock;
  }

  /** A cancelled run needs the answer to nothing that only reads. */
  get #reading(): OperationOptions {
    return { signal: this.surroundings.cancelled };
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
    const list = await this.#watched("list", super.list(this.#reading));
    if (list.serverTime !== null) this.skew = list.serverTime - this.#clock.date();
    return list;
  }

  override register(registration: Registration): Promise<Endpoint> {
    return this.#watched("register", super.register(registration)).finally(() => this.#forget());
  }

  override get(id: string): Promise<Endpoint> {
    return this.#watched("get", super.get(id, this.#reading)).catch((error: unknown) => {
      throw goneOf(error) ?? error;
    });
  }

  /**
   * Deletes an endpoint. When the service says that it has none with this id but still lists it, asks once more.
   *
   * @throws WebhookEndpointNotFoundError when there was nothing to delete
   */
  override async delete(id: string): Promise<void> {
    const startedAt = this.#clock.now();
    const gone = await this.#tryDelete(id);
    if (!gone) return;
    if (!(await this.#findListed(id, startedAt))) throw gone;
    const still = await this.#tryDelete(id);
    if (still) throw contradicted(id, still);
  }

  /** Deletes an endpoint, or returns the service's answer that it has none with this id. */
  async #tryDelete(id: string): Promise<WebhookEndpointNotFoundError | undefined> {
    try {
      await this.#watched("delete", super.delete(id));
    } catch (error) {
      const gone = goneOf(error);
      if (gone) return gone;
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
  async find(id: string): Promise<Endpoint | undefined> {
    this.#reads += 1;
    this.#gathering ??= sleep(GATHERING_MS, { clock: this.#clock, signal: undefined });
    await this.#gathering;
    const listed = this.#reads > 1 ? await this.#findListed(id) : undefined;
    const endpoint = listed ?? (await this.get(id).catch(undefinedIfGone)) ?? (await this.#findListed(id));
    if (endpoint) this.hasFound = true;
    return endpoint;
  }

  /** Looks in a list that is not older than so, or returns undefined when there is no list. */
  async #findListed(id: string, since?: number): Promise<Endpoint | undefined> {
    return (await this.#share(since))?.endpoints.find((each) => each.id === id);
  }

  #share(since = this.#clock.now() - LIST_LIFETIME_MS): Promise<EndpointList | undefined> {
    if (this.#shared === undefined || this.#sharedAt < since) {
      this.#sharedAt = this.#clock.now();
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
    const { log, showResponses } = this.surroundings;
    const cancel = this.#clock.after(SLOW_MS, () => {
      if (this.#slow.size < this.#slow.add(operation).size)
        log.info(`waiting for the service: ${operation} takes longer than ${SLOW_MS / 1000} s`);
    });
    return answer.finally(cancel).catch((error: unknown) => {
      if (showResponses && hasAnswer(error) && !goneOf(error))
        log.warn(describeAnswer(error, this.settings.apiKey));
      throw error;
    });
  }

  /** Drops the shared list: after a write it is out of date. */
  #forget(): void {
    this.#shared = undefined;
  }
}

/** Returns an error that means that the endpoint is gone: to the verbs, 410 says the same as 404. */
function goneOf(error: unknown): WebhookEndpointNotFoundError | undefined {
  if (isGone(error)) return error;
  if (!(error instanceof WebhookError) || error.statusCode !== 410) return undefined;
  return new WebhookEndpointNotFoundError(error.reason, { code: "NOT_FOUND", statusCode: 410, cause: error });
}

function contradicted(id: string, cause: WebhookEndpointNotFoundError): WebhookError {
  const reason =
    `endpoint ${id} was not deleted: the service answered ${cause.statusCode}, but it still lists the endpoint. Run the same ` +
    "command again. If it keeps failing and the endpoint is gone, run `pulumi state delete` for its resource.";
  return new WebhookError(reason, { code: "REJECTED", statusCode: cause.statusCode, cause });
}
