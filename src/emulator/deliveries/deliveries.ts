import { isSuccess } from "../../shared/isSuccess";
import { signWithEach } from "../../signature/sign";
import { checkType, type EmulatedEndpoint } from "../endpoint";
import { checkNames, EmulatorError } from "../errors";
import { Log } from "../log";
import type { Registry } from "../registry";
import { checkDelay, type Timers } from "../timers";
import {
  type Delivery,
  type EmulatedEvent,
  type EndpointDelivery,
  EVENT_OPTIONS,
  type LoggedAttempt,
  type OpenAttempt,
} from "./event";
import { newId, tampered } from "./message";
import { Poster, type PostResult } from "./post";
import { retryDelay } from "./retry";
import type { Secrets } from "./secrets";

const HEADERS = { "content-type": "application/json", "user-agent": "webhook-endpoints-emulator" };

interface DeliveriesOptions {
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
interface Dispatch {
  readonly attempted: Promise<unknown>;
  readonly done: Promise<Delivery>;
}

/** One endpoint that gets an event. */
interface Target {
  readonly account: string;
  readonly endpointId: string;
  readonly id: string;
  readonly noteAttempt: () => void;
  readonly onRetry: ((attempt: LoggedAttempt) => void) | undefined;
}

/** Sends events to endpoints at least once, in any order, and signs each attempt with a fresh timestamp. */
export class Deliveries {
  readonly log = new Log<LoggedAttempt>();
  readonly #open = new Set<OpenAttempt>();
  readonly #poster: Poster;
  #sent = 0;

  constructor(private readonly options: DeliveriesOptions) {
    this.#poster = new Poster({ timeoutMs: options.timeoutMs, signal: options.timers.signal });
  }

  /**
   * Starts to deliver an event. `onRetry` is called with each attempt that failed and that another one follows.
   *
   * @throws EmulatorError for an endpoint that is not registered, and for an invalid wait
   */
  dispatch(event: EmulatedEvent, onRetry?: (attempt: LoggedAttempt) => void): Dispatch {
    checkNames("deliver", event, EVENT_OPTIONS);
    if (typeof event.type !== "string")
      throw new EmulatorError("EMULATOR_OPTIONS", "Cannot deliver: type must be the name of the event.");
    checkType("deliver", event.endpointType);
    for (const delay of event.retryDelaysMs ?? []) checkDelay("retryDelaysMs", delay);
    const id = event.id ?? newId();
    const { registry, homeAccount, webhookIds } = this.options;
    const own = event.id === undefined && webhookIds === "per-endpoint";
    const { account, endpoints: targets } = registry.select(event, homeAccount);
    const sendings = targets.map(({ id: endpointId }) => {
      let noteAttempt = () => {};
      const attempted = new Promise<void>((resolve) => {
        noteAttempt = resolve;
      });
      const to = { account, endpointId, id: own ? newId() : id, noteAttempt, onRetry };
      return { attempted, ended: this.#deliver(event, to).finally(noteAttempt) };
    });
    const done = Promise.all(sendings.map(({ ended }) => ended)).then((endpoints) => {
      const delivered = endpoints.length > 0 && endpoints.every(({ outcome }) => outcome === "delivered");
      return { id, type: event.type, delivered, endpoints };
    });
    return { attempted: Promise.all(sendings.map(({ attempted }) => attempted)), done };
  }

  /** The attempts that have no result yet, oldest first. */
  get open(): Iterable<OpenAttempt> {
    return this.#open;
  }

  /** Returns the last attempt of a delivery, or of all. @throws EmulatorError when there is none */
  latest(id?: string): LoggedAttempt {
    const found = this.log.entries.findLast((attempt) => id === undefined || attempt.id === id);
    if (found !== undefined) return found;
    const which =
      id === undefined ? "a delivery: nothing was delivered yet" : `delivery ${id}: it is not in the log`;
    throw new EmulatorError("EMULATOR_UNKNOWN_DELIVERY", `Cannot find ${which}.`);
  }

  /** Repeats an attempt, byte for byte. */
  async replay(attempt: LoggedAttempt): Promise<LoggedAttempt> {
    const { statusCode, error, answer, answerHeaders, durationMs, retryInMs, ...request } = attempt;
    const number = this.#nextNumber();
    return this.#send({ ...request, number, at: this.options.now(), replayed: true }, () => null);
  }

  async #deliver(event: EmulatedEvent, to: Target): Promise<EndpointDelivery> {
    const { registry, timers, retryDelaysMs } = this.options;
    const { account, endpointId, id } = to;
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
      to.noteAttempt();
      statusCode = sent.statusCode;
      if (timers.signal.aborted) return ended("closed", attempt);
      if (isSuccess(statusCode)) return ended("delivered", attempt);
      if (sent.retryInMs === null) return ended("failed", attempt);
      to.onRetry?.(sent);
      if (!(await timers.sleep(sent.retryInMs))) return ended("closed", attempt);
    }
  }

  async #attempt(
    event: EmulatedEvent,
    on: { endpoint: EmulatedEndpoint; id: string; attempt: number; delaysMs: readonly number[] },
  ): Promise<LoggedAttempt> {
    const { now, secrets } = this.options;
    const { endpoint, id, attempt, delaysMs } = on;
    const { type, data = {} } = event;
    const at = now();
    const signed = event.body ?? JSON.stringify({ type, data });
    const timestamp = Math.floor(at / 1000) - (event.ageSeconds ?? 0);
    const headers = signWithEach({ id, timestamp, body: signed }, secrets.of(endpoint.type));
    const body = event.tamper === true ? tampered(signed) : signed;
    const request: OpenAttempt = {
      number: this.#nextNumber(),
      at,
      id,
      type,
      endpointId: endpoint.id,
      url: endpoint.url,
      attempt,
      tampered: event.tamper === true,
      replayed: false,
      headers,
      body,
    };
    return this.#send(request, ({ retryAfter }) =>
      retryDelay({ delaysMs, attempts: attempt, retryAfter, now: now() }),
    );
  }

  /** Sends a request and logs its result. `retry` returns the wait after a failure. */
  async #send(request: OpenAttempt, retry: (result: PostResult) => number | null): Promise<LoggedAttempt> {
    const { url, body } = request;
    this.#open.add(request);
    const result = await this.#poster.post({ url, headers: { ...HEADERS, ...request.headers }, body });
    this.#open.delete(request);
    const { retryAfter, ...answered } = result;
    const retryInMs = isSuccess(result.statusCode) ? null : retry(result);
    const entry: LoggedAttempt = { ...request, ...answered, retryInMs };
    this.log.add(entry);
    return entry;
  }

  #nextNumber(): number {
    this.#sent += 1;
    return this.#sent;
  }
}
