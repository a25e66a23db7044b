import { Agent } from "undici";
import { isSuccess } from "../shared/isSuccess";
import { postDelivery } from "../shared/post";
import { sign } from "../signature/sign";
import { EmulatorError } from "./errors";
import {
  type Delivery,
  type EmulatedEvent,
  type EndpointDelivery,
  type LoggedAttempt,
  newId,
  type OpenAttempt,
  tampered,
} from "./event";
import { Log } from "./log";
import type { EmulatedEndpoint, Registry } from "./registry";
import type { Secrets } from "./secrets";
import type { Timers } from "./timers";

const HEADERS = { "content-type": "application/json", "user-agent": "webhook-endpoints-emulator" };
/** How many deliveries are sent at once to a host. */
const MOST_AT_ONCE = 64;
/** How much of an answer's body is kept, in bytes. */
const KEPT_ANSWER_BYTES = 1024;
/** The names that undici has for failures of its own. */
const FAILURES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "timed out",
  UND_ERR_SOCKET: "ECONNRESET",
};
/** The longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

interface DeliveriesOptions {
  readonly registry: Registry;
  readonly secrets: Secrets;
  readonly timers: Timers;
  readonly now: () => number;
  readonly warn: (message: string) => void;
  /** The account that gets an event without a target. */
  readonly homeAccount: string;
  readonly retryDelaysMs: readonly number[];
  readonly timeoutMs: number;
}

/** An event being delivered. `attempted` resolves after the first attempt at each endpoint, `done` after the last. */
interface Dispatch {
  readonly attempted: Promise<unknown>;
  readonly done: Promise<Delivery>;
}

/** Sends events to endpoints at least once, in any order, and signs each attempt with a fresh timestamp. */
export class Deliveries {
  readonly log = new Log<LoggedAttempt>();
  /** The attempts that have no result yet, oldest first. */
  readonly open = new Set<OpenAttempt>();
  readonly #dispatcher: Agent;
  #sent = 0;

  constructor(private readonly options: DeliveriesOptions) {
    const { timeoutMs, timers } = options;
    this.#dispatcher = new Agent({ connections: MOST_AT_ONCE, connect: { timeout: timeoutMs } });
    timers.signal.addEventListener("abort", () => this.#dispatcher.destroy());
  }

  /** Starts to deliver an event. @throws EmulatorError for an endpoint that is not registered */
  dispatch(event: EmulatedEvent): Dispatch {
    const id = event.id ?? newId();
    const { account, endpoints: targets } = this.#targetsOf(event);
    const sendings = targets.map((endpoint) => {
      let noteAttempt = () => {};
      const attempted = new Promise<void>((resolve) => {
        noteAttempt = resolve;
      });
      const to = { account, id, endpointId: endpoint.id, noteAttempt };
      return { attempted, ended: this.#deliver(event, to).finally(noteAttempt) };
    });
    const done = Promise.all(sendings.map(({ ended }) => ended)).then((endpoints) => {
      const delivered = endpoints.length > 0 && endpoints.every(({ outcome }) => outcome === "delivered");
      return { id, type: event.type, delivered, endpoints };
    });
    return { attempted: Promise.all(sendings.map(({ attempted }) => attempted)), done };
  }

  /** Returns the last attempt of a delivery, or of all. @throws EmulatorError when there is none */
  latest(id?: string): LoggedAttempt {
    const found = this.log.entries.findLast((attempt) => id === undefined || attempt.id === id);
    if (found !== undefined) return found;
    const problem = id === undefined ? "nothing was delivered yet" : `no delivery ${id} is in the log`;
    throw new EmulatorError("EMULATOR_ARGUMENT", `Cannot replay a delivery: ${problem}.`);
  }

  /** Repeats an attempt, byte for byte. */
  replay(attempt: LoggedAttempt): Promise<LoggedAttempt> {
    const { statusCode, error, answer, answerHeaders, durationMs, retryInMs, ...request } = attempt;
    const repeated = { ...request, number: ++this.#sent, at: this.options.now(), replayed: true };
    return this.#send(repeated, []);
  }

  #targetsOf({ endpointId, endpointType, account }: EmulatedEvent) {
    const { registry, homeAccount } = this.options;
    const found = endpointId === undefined ? undefined : registry.found(endpointId, "deliver to");
    const owner = account ?? found?.account ?? homeAccount;
    const endpoints = registry
      .list(owner)
      .filter(({ id, type }) => id === (endpointId ?? id) && type === (endpointType ?? type));
    return { account: owner, endpoints };
  }

  async #deliver(
    event: EmulatedEvent,
    to: { account: string; id: string; endpointId: string; noteAttempt: () => void },
  ): Promise<EndpointDelivery> {
    const { registry, timers, retryDelaysMs, warn } = this.options;
    const { account, id, endpointId } = to;
    const isForged = event.tamper === true || (event.ageSeconds ?? 0) > 0;
    const delaysMs = event.retryDelaysMs ?? (isForged ? [] : retryDelaysMs);
    let statusCode: number | null = null;
    const ended = (outcome: EndpointDelivery["outcome"], attempts: number) => {
      return { endpointId, id, outcome, attempts, statusCode };
    };
    for (let attempt = 1; ; attempt += 1) {
      const endpoint = registry.get(account, endpointId);
      if (endpoint === undefined) return ended("endpoint-gone", attempt - 1);
      const sent = await this.#send(this.#signed(event, { endpoint, id, attempt }), delaysMs);
      to.noteAttempt();
      statusCode = sent.statusCode;
      if (timers.signal.aborted) return ended("closed", attempt);
      if (isSuccess(statusCode)) return ended("delivered", attempt);
      if (sent.retryInMs === null) return ended("failed", attempt);
      // Nobody sees why a program waits two minutes for a receiver that refuses everything.
      if (attempt === 2) warn(refusedTwice(sent));
      if (!(await timers.sleep(sent.retryInMs))) return ended("closed", attempt);
    }
  }

  #signed(
    event: EmulatedEvent,
    { endpoint, id, attempt }: { endpoint: EmulatedEndpoint; id: string; attempt: number },
  ): OpenAttempt {
    const { type, data = {}, body = JSON.stringify({ type, data }), tamper = false, ageSeconds = 0 } = event;
    const at = this.options.now();
    const timestamp = Math.floor(at / 1000) - ageSeconds;
    const headers = sign({ id, timestamp, body, secret: this.options.secrets.of(endpoint.type) });
    const { id: endpointId, url } = endpoint;
    const sent = { tampered: tamper, replayed: false, headers, body: tamper ? tampered(body) : body };
    return { number: ++this.#sent, at, id, type, endpointId, url, attempt, ...sent };
  }

  /** Sends a request and logs its result. */
  async #send(request: OpenAttempt, delaysMs: readonly number[]): Promise<LoggedAttempt> {
    this.open.add(request);
    const sent = await postDelivery({
      url: request.url,
      headers: { ...HEADERS, ...request.headers },
      body: request.body,
      dispatcher: this.#dispatcher,
      timeoutMs: this.options.timeoutMs,
      longestAnswer: KEPT_ANSWER_BYTES,
      signal: this.options.timers.signal,
    });
    this.open.delete(request);
    const { status: statusCode, durationMs } = sent;
    const isAnswered = sent.status !== null;
    const answerHeaders = isAnswered
      ? Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name, String(value)]))
      : null;
    const planned = isSuccess(statusCode) ? undefined : delaysMs[request.attempt - 1];
    const retryAfterMs = this.#retryAfterMs(answerHeaders?.["retry-after"]);
    const entry: LoggedAttempt = {
      ...request,
      statusCode,
      error: isAnswered ? null : (FAILURES[sent.failure] ?? sent.failure),
      answer: isAnswered ? sent.body.toString("utf8") : null,
      answerHeaders,
      durationMs,
      retryInMs: planned === undefined ? null : Math.max(planned, retryAfterMs),
    };
    this.log.add(entry);
    return entry;
  }

  /** Parses both forms of RFC 9110, section 10.2.3: seconds and a date. Anything else counts as 0. */
  #retryAfterMs(value = ""): number {
    const text = value.trim();
    const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - this.options.now();
    return milliseconds > 0 ? Math.min(milliseconds, MAX_RETRY_AFTER_MS) : 0;
  }
}

/** Names the endpoint by its id, because its url can contain a secret. */
function refusedTwice({ endpointId, statusCode, error, type, retryInMs }: LoggedAttempt): string {
  const answer = statusCode === null ? `no answer (${error})` : statusCode;
  const next = Math.ceil((retryInMs ?? 0) / 1000);
  return `Attempt 2 of ${type} got ${answer} from endpoint ${endpointId}. The next one follows in ${next} s. Correct the receiver.`;
}
