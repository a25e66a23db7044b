import { randomBytes } from "node:crypto";
import type { EmulatedEndpoint } from "../endpoint";
import { EmulatorError } from "../errors";
import { Log } from "../log";
import type { Registry } from "../registry";
import type { Timers } from "../timers";
import type { Delivery, EmulatedEvent, EndpointDelivery, LoggedAttempt } from "./event";
import { bodyOf, tampered } from "./message";
import { Poster, type PostResult } from "./post";
import { retryDelay } from "./retry";
import type { Secrets } from "./secrets";

const HEADERS = { "content-type": "application/json", "user-agent": "webhook-endpoints-emulator" };

export interface DeliveriesOptions {
  readonly registry: Registry;
  readonly secrets: Secrets;
  readonly timers: Timers;
  readonly now: () => number;
  readonly homeAccount: string;
  readonly retryDelaysMs: readonly number[];
  readonly timeoutMs: number;
  readonly webhookIds: "per-event" | "per-endpoint";
}

/** An event being delivered. `attempted` resolves after the first attempt at each endpoint, `done` after the last. */
export interface Dispatch {
  readonly attempted: Promise<unknown>;
  readonly done: Promise<Delivery>;
}

/** Sends events to endpoints at least once, in any order, and signs each attempt with a fresh timestamp. */
export class Deliveries {
  readonly log = new Log<LoggedAttempt>();
  readonly #poster = new Poster();
  readonly #options: DeliveriesOptions;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Starts to deliver an event. @throws EmulatorError for an endpoint that is not registered */
  dispatch(event: EmulatedEvent): Dispatch {
    const id = event.id ?? newId();
    const own = event.id === undefined && this.#options.webhookIds === "per-endpoint";
    const firsts: Promise<void>[] = [];
    const endings = this.#targets(event).map(([account, endpoint]) => {
      let attempted = () => {};
      firsts.push(
        new Promise((resolve) => {
          attempted = resolve;
        }),
      );
      const ending = this.#deliver(event, { account, endpoint, id: own ? newId() : id, attempted });
      return ending.finally(attempted);
    });
    const done = Promise.all(endings).then((endpoints) => {
      const delivered = endpoints.length > 0 && endpoints.every(({ outcome }) => outcome === "delivered");
      return { id, type: event.type, delivered, endpoints };
    });
    return { attempted: Promise.all(firsts), done };
  }

  /** Repeats the last attempt of a delivery, byte for byte. @throws EmulatorError when there is none */
  async replay(id?: string): Promise<LoggedAttempt> {
    const original = this.log.entries.findLast((attempt) => id === undefined || attempt.id === id);
    if (original === undefined) {
      const which = id === undefined ? "" : ` with the id ${id}`;
      throw new EmulatorError("EMULATOR_UNKNOWN_DELIVERY", `Cannot replay: there is no delivery${which}.`);
    }
    const at = this.#options.now();
    const { statusCode, error } = await this.#post(original);
    const replayed = { ...original, at, statusCode, error, retryInMs: null, replayed: true };
    this.log.add(replayed);
    return replayed;
  }

  close(): void {
    this.#poster.close();
  }

  async #deliver(
    event: EmulatedEvent,
    to: { account: string; endpoint: EmulatedEndpoint; id: string; attempted: () => void },
  ): Promise<EndpointDelivery> {
    const { registry, timers, retryDelaysMs } = this.#options;
    const {
      account,
      id,
      endpoint: { id: endpointId },
    } = to;
    const forged = event.tamper === true || (event.ageSeconds ?? 0) > 0;
    const delaysMs = event.retryDelaysMs ?? (forged ? [] : retryDelaysMs);
    let statusCode: number | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const ended = (outcome: EndpointDelivery["outcome"], attempts: number) => ({
        endpointId,
        id,
        outcome,
        attempts,
        statusCode,
      });
      const endpoint = registry.get(account, endpointId);
      if (endpoint === undefined) return ended("endpoint-gone", attempt - 1);
      const sent = await this.#attempt(event, { endpoint, id, attempt, delaysMs });
      to.attempted();
      statusCode = sent.statusCode;
      if (timers.closed) return ended("closed", attempt);
      if (isSuccess(statusCode)) return ended("delivered", attempt);
      if (sent.retryInMs === null) return ended("failed", attempt);
      if (!(await timers.sleep(sent.retryInMs))) return ended("closed", attempt);
    }
  }

  async #attempt(
    event: EmulatedEvent,
    on: { endpoint: EmulatedEndpoint; id: string; attempt: number; delaysMs: readonly number[] },
  ): Promise<LoggedAttempt> {
    const { now, secrets } = this.#options;
    const { endpoint, id, attempt, delaysMs } = on;
    const at = now();
    const signed = bodyOf(event);
    const timestamp = Math.floor(at / 1000) - (event.ageSeconds ?? 0);
    const headers = secrets.sign(endpoint.type, { id, timestamp, body: signed });
    const body = event.tamper === true ? tampered(signed) : signed;
    const { statusCode, retryAfter, error } = await this.#post({ url: endpoint.url, headers, body });
    const retry = isSuccess(statusCode)
      ? null
      : retryDelay({ delaysMs, attempts: attempt, retryAfter, now: now() });
    const entry: LoggedAttempt = {
      at,
      id,
      type: event.type,
      endpointId: endpoint.id,
      url: endpoint.url,
      attempt,
      statusCode,
      error,
      retryInMs: retry,
      tampered: event.tamper === true,
      replayed: false,
      headers,
      body,
    };
    this.log.add(entry);
    return entry;
  }

  #post({ url, headers, body }: Pick<LoggedAttempt, "url" | "headers" | "body">): Promise<PostResult> {
    const { timeoutMs } = this.#options;
    return this.#poster.post({ url, headers: { ...HEADERS, ...headers }, body, timeoutMs });
  }

  #targets({ endpointId, endpointType, account }: EmulatedEvent): (readonly [string, EmulatedEndpoint])[] {
    const { registry, homeAccount } = this.#options;
    const owner = endpointId === undefined ? (account ?? homeAccount) : registry.accountOf(endpointId);
    if (owner === undefined || (account !== undefined && owner !== account)) {
      const message = `Cannot deliver to endpoint ${endpointId}: it is not registered.`;
      throw new EmulatorError("EMULATOR_UNKNOWN_ENDPOINT", message);
    }
    return registry
      .list(owner)
      .filter(({ id }) => endpointId === undefined || id === endpointId)
      .filter(({ type }) => endpointType === undefined || type === endpointType)
      .map((endpoint) => [owner, endpoint] as const);
  }
}

function isSuccess(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

function newId(): string {
  return `msg_${randomBytes(12).toString("hex")}`;
}
