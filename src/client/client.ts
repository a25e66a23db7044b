import { setMaxListeners } from "node:events";
import type { Dispatcher } from "undici";
import type { Call } from "./call";
import { callError } from "./callError";
import { deleteCall, getCall, listCall, registerCall } from "./calls";
import type { Clock } from "./clock";
import { systemClock } from "./clock";
import { openDispatcher } from "./dispatcher";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import type { ResolvedOptions, WebhooksClientOptions } from "./options";
import { resolveOptions } from "./options";
import { Requester } from "./requester";

export interface OperationOptions {
  /** Ends the operation, wherever it is: it then fails with `ABORTED` and the signal's reason as `cause`. */
  readonly signal?: AbortSignal | undefined;
}

/** What a client takes from its surroundings. */
export interface ClientEnvironment {
  readonly clock?: Clock;
  /** From 0 up to but not including 1: the jitter of backoffs. Default: `Math.random`. */
  readonly random?: () => number;
  /** Where proxies are looked up. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * The webhook service's HTTP API.
 *
 * Requests that may be repeated without harm are, after a backoff with full jitter: get, list and delete after a network
 * failure, 408, 429, 500, 502, 503 and 504; a registration only where it surely was not made. What the service asks for
 * by 429 or `Retry-After`, all requests of the client obey together. It holds connections: one client for one account,
 * and `close()` when it is no longer needed.
 */
export class WebhooksClient {
  readonly #options: ResolvedOptions;
  readonly #requester: Requester;
  readonly #dispatcher: Dispatcher;
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  /** @throws WebhookError `INVALID_OPTION` */
  constructor(options: WebhooksClientOptions, environment: ClientEnvironment = {}) {
    const { clock = systemClock, random = Math.random, env = process.env } = environment;
    this.#options = resolveOptions(options);
    this.#dispatcher = this.#options.dispatcher ?? openDispatcher(this.#options, env);
    this.#requester = new Requester({ options: this.#options, dispatcher: this.#dispatcher, clock, random });
  }

  /**
   * Registers an endpoint. The service accepts the same url twice, so this sends nothing again that may have been made.
   *
   * @throws WebhookRegistrationError whose `outcome` says whether one may have been made all the same.
   */
  async register(registration: Registration, options?: OperationOptions): Promise<Endpoint> {
    return this.#run(registerCall(registration), options);
  }

  /** Every endpoint of the account, in one request. @throws WebhookError */
  async list(options?: OperationOptions): Promise<EndpointList> {
    return this.#run(listCall(), options);
  }

  /** @throws WebhookEndpointNotFoundError when the service answers 404. @throws WebhookError */
  async get(id: string, options?: OperationOptions): Promise<Endpoint> {
    return this.#run(getCall(id), options);
  }

  /**
   * Deletes an endpoint. A 404 after an attempt that may have worked is success.
   *
   * @throws WebhookEndpointNotFoundError when the service answers 404 otherwise. @throws WebhookError
   */
  async delete(id: string, options?: OperationOptions): Promise<void> {
    return this.#run(deleteCall(id), options);
  }

  /** Takes no more operations, waits for those under way, and closes the connections (not those of a given dispatcher). */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#underWay).then(async () => {
      // Nothing of ours is under way; what may be is a connection that nobody waits for any longer.
      if (this.#options.dispatcher === undefined) await this.#dispatcher.destroy();
    });
    return this.#closing;
  }

  async #run<T>(call: Call<T>, { signal }: OperationOptions = {}): Promise<T> {
    if (this.#closing) throw callError(call, { code: "CLOSED", effect: "none", attempts: 0 }, this.#options);
    // Many operations may share a signal, and each listens: that is no leak to warn of.
    if (signal) setMaxListeners(0, signal);
    const running = this.#requester.run(call, signal);
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }
}
