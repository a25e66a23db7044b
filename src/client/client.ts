import { setMaxListeners } from "node:events";
import { openDispatcher } from "../shared/dispatcher";
import { foreign } from "../shared/escape";
import { isSuccess } from "../shared/status";
import { describeUrl } from "../shared/url";
import type { ClientContext } from "./attempt";
import { systemClock } from "./clock";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import { WebhookError } from "./errors";
import { Gate } from "./gate";
import type { Operation } from "./operation";
import { type ClientEnvironment, resolveOptions, type WebhooksClientOptions } from "./options";
import { need, parseBody, parseEndpoint, parseList } from "./parse";
import { type OperationOptions, runOperation } from "./runOperation";

/**
 * The webhook service's HTTP API.
 *
 * It repeats only what is safe to repeat: get, list and delete after a network failure, 408, 429, 500, 502, 503 and 504, and
 * a registration if it was certainly not made. A pause that the service asks for, by 429 or `Retry-After`, holds for all
 * requests of the client; after a 403 with one, each request waits once. Use one client for each account, and `close()` it in the end, because it holds connections.
 */
export class WebhooksClient {
  readonly #context: ClientContext;
  readonly #url: string;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closed = new AbortController();

  /** @throws WebhookError `INVALID_OPTION`. @throws ProxyError with the same code for a proxy of the environment that is not a URL */
  constructor(options: WebhooksClientOptions, environment: ClientEnvironment = {}) {
    const { clock = systemClock, random = Math.random, cancelled } = environment;
    const resolved = resolveOptions(options);
    const gate = new Gate({ maxConcurrency: resolved.maxConcurrency, clock });
    const dispatcher = resolved.dispatcher ?? openDispatcher(resolved.baseUrl, this.#closed.signal);
    this.#url = `${resolved.baseUrl}/webhooks`;
    this.#context = { options: resolved, dispatcher, gate, clock, random, cancelled };
  }

  /**
   * Registers an endpoint. The service accepts the same url twice, so a request that may have worked is never repeated.
   *
   * @throws WebhookRegistrationError whose `outcome` says whether the endpoint may have been registered all the same
   */
  async register(registration: Registration, options?: OperationOptions): Promise<Endpoint> {
    const { url, type, ip } = registration;
    const operation: Operation<Endpoint> = {
      name: "register",
      method: "POST",
      url: this.#url,
      body: JSON.stringify({ url, type, ip } satisfies Record<keyof Registration, unknown>),
      description: `register a webhook endpoint for ${describeUrl(url)} (${type})`,
      parse: ({ body }) => parseEndpoint(parseBody(body)),
    };
    return this.#run(operation, options);
  }

  /** Lists every endpoint of the account, in one request. @throws WebhookError */
  async list(options?: OperationOptions): Promise<EndpointList> {
    const operation: Operation<EndpointList> = {
      name: "list",
      method: "GET",
      url: this.#url,
      description: "list the webhook endpoints",
      parse: ({ body, headers }) => parseList(parseBody(body), headers),
    };
    return this.#run(operation, options);
  }

  /** Returns one endpoint. @throws WebhookEndpointNotFoundError if the service responds 404 or 410. @throws WebhookError */
  async get(id: string, options?: OperationOptions): Promise<Endpoint> {
    const parse: Operation<Endpoint>["parse"] = ({ body }) => {
      const endpoint = parseEndpoint(parseBody(body));
      need(endpoint.id === id, "its id is not the one that was asked for");
      return endpoint;
    };
    return this.#run({ ...this.#withId("get", id), method: "GET", parse }, options);
  }

  /**
   * Deletes an endpoint. A 404 or 410 after an attempt that may have worked is a success.
   *
   * @throws WebhookEndpointNotFoundError if the service responds so otherwise. @throws WebhookError
   */
  async delete(id: string, options?: OperationOptions): Promise<void> {
    const parse: Operation<void>["parse"] = ({ status }) => {
      if (!isSuccess(status)) options?.onDenied?.();
    };
    return this.#run({ ...this.#withId("delete", id), method: "DELETE", parse }, options);
  }

  /** Waits for the operations under way, and closes the connections, except those of a given dispatcher. Start no further ones. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const { options, dispatcher } = this.#context;
    // Only a connection attempt that was given up can still be open, so nothing is lost.
    if (options.dispatcher === undefined) await dispatcher.destroy();
    this.#closed.abort();
  }

  async #run<T>(operation: Operation<T>, options: OperationOptions = {}): Promise<T> {
    // Many operations may share a signal, and each listens to it: Node.js must not warn of a leak.
    if (options.signal) setMaxListeners(0, options.signal);
    const running = runOperation(operation, this.#context, options);
    this.#underWay.add(running);
    return running.finally(() => this.#underWay.delete(running));
  }

  /** @throws WebhookError `INVALID_ARGUMENT` */
  #withId<Name extends "get" | "delete">(name: Name, id: string) {
    const description = `${name} webhook endpoint ${foreign(JSON.stringify(id))}`;
    // URL resolution would turn "." and ".." into another path, and an empty id would be the path of all endpoints.
    // A program in another language may pass something other than a string.
    if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
      const problem = "this is not a valid id. Pass the id that the service returned";
      throw new WebhookError(`Cannot ${description}: ${problem}`, { code: "INVALID_ARGUMENT" });
    }
    return { name, url: `${this.#url}/${encodeURIComponent(id)}`, description };
  }
}
