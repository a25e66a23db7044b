import { setMaxListeners } from "node:events";
import type { Dispatcher } from "undici";
import { type DispatcherOptions, openDispatcher, ProxyError } from "../shared/dispatcher";
import { type Clock, systemClock } from "./clock";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import { WebhookError } from "./errors";
import { Gate } from "./gate";
import { operationError } from "./operationError";
import { type OperationContext, type OperationOptions, runOperation } from "./operationRun";
import {
  deleteOperation,
  getOperation,
  listOperation,
  type Operation,
  registerOperation,
} from "./operations";
import { type ResolvedOptions, resolveOptions, type WebhooksClientOptions } from "./options";

/** What a client takes from its surroundings. */
export interface ClientEnvironment {
  /** The clock that measures waits and timeouts. */
  readonly clock?: Clock;
  /** Returns a number from 0 up to but not including 1, for the jitter of backoffs. Default: `Math.random`. */
  readonly random?: () => number;
  /** The environment variables that name proxies. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Once it fires, attempts under way go on, but nothing waits or is repeated: what would fails with `ABORTED`. */
  readonly cancelled?: AbortSignal | undefined;
}

/**
 * The webhook service's HTTP API.
 *
 * It repeats only requests that are safe to repeat: get, list and delete after a network failure, 408, 429, 500, 502, 503
 * and 504, with exponential backoff and full jitter; a registration only if it was certainly not made. A pause that the
 * service asks for, by 429 or `Retry-After`, holds for all requests of the client. A client holds connections: use one
 * for each account, and `close()` it when you no longer need it.
 */
export class WebhooksClient {
  readonly #context: OperationContext;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  /** @throws WebhookError `INVALID_OPTION` */
  constructor(options: WebhooksClientOptions, environment: ClientEnvironment = {}) {
    const { clock = systemClock, random = Math.random, env = process.env, cancelled } = environment;
    if (cancelled) setMaxListeners(0, cancelled);
    const resolved = resolveOptions(options);
    this.#context = {
      options: resolved,
      dispatcher: resolved.dispatcher ?? openWay(resolved, { env, closed: this.#closed.signal }),
      gate: new Gate({ maxConcurrency: resolved.maxConcurrency, clock }),
      clock,
      random,
      cancelled,
    };
  }

  /**
   * Registers an endpoint. The service accepts the same url twice, so a request that may have worked is never repeated.
   *
   * @throws WebhookRegistrationError whose `outcome` says whether the endpoint may have been registered all the same
   */
  async register(registration: Registration, options?: OperationOptions): Promise<Endpoint> {
    return this.#run(registerOperation(registration), options);
  }

  /** Lists every endpoint of the account, in one request. @throws WebhookError */
  async list(options?: OperationOptions): Promise<EndpointList> {
    return this.#run(listOperation(), options);
  }

  /** Returns one endpoint. @throws WebhookEndpointNotFoundError if the service answers 404. @throws WebhookError */
  async get(id: string, options?: OperationOptions): Promise<Endpoint> {
    return this.#run(getOperation(id), options);
  }

  /**
   * Deletes an endpoint. A 404 after an attempt that may have worked is a success.
   *
   * @throws WebhookEndpointNotFoundError if the service answers 404 otherwise. @throws WebhookError
   */
  async delete(id: string, options?: OperationOptions): Promise<void> {
    return this.#run(deleteOperation(id), options);
  }

  /** Refuses further operations, waits for those under way, and closes the connections, except those of a given dispatcher. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#underWay).then(async () => {
      const { options, dispatcher } = this.#context;
      // Only a connection attempt that was given up can still be open, so nothing is lost.
      if (options.dispatcher === undefined) await dispatcher.destroy();
      this.#closed.abort();
    });
    return this.#closing;
  }

  async #run<T>(operation: Operation<T>, options: OperationOptions = {}): Promise<T> {
    if (this.#closing) {
      const failure = { code: "CLOSED", mayHaveWorked: false, attempts: 0, attemptTimeoutMs: 0 } as const;
      throw operationError(operation, failure, this.#context.options);
    }
    // Many operations may share a signal, and each listens to it: Node.js must not warn of a leak.
    if (options.signal) setMaxListeners(0, options.signal);
    const running = runOperation(operation, this.#context, options);
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

/** @throws WebhookError `INVALID_OPTION` if the environment names a proxy whose URL is invalid */
function openWay({ baseUrl, timeoutMs }: ResolvedOptions, options: DispatcherOptions): Dispatcher {
  try {
    // No attempt waits longer for a connection.
    return openDispatcher(baseUrl, { ...options, connectTimeoutMs: Math.min(10_000, timeoutMs) });
  } catch (error) {
    if (!(error instanceof ProxyError)) throw error;
    throw new WebhookError(`Cannot create a webhooks client: ${error.reason}`, { code: error.code });
  }
}
