import { setTimeout as wait } from "node:timers/promises";
import { Agent } from "undici";
import { foreign } from "../shared/escape";
import { postDelivery } from "../shared/post";
import { isSuccess } from "../shared/status";
import { newMessageId, signedHeaders } from "../signature/sign";
import type { DeliveryRecord, EndpointDelivery, LoggedAttempt, OpenAttempt } from "./deliveryRecord";
import { EmulatorError } from "./emulatorError";
import { type EmulatedEvent, tampered } from "./event";
import { NewestEntries } from "./newestEntries";
import { DEFAULT_ACCOUNT, type Parts } from "./options";
import type { EmulatedEndpoint } from "./registry";

const USER_AGENT = "webhook-endpoints-emulator";
/** How many deliveries are sent at once to a host. */
const MOST_AT_ONCE = 64;
/** How much of a response's body is kept, in bytes. */
const KEPT_RESPONSE_BYTES = 1024;
/** The longest wait that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** An event with its id and the waits between its attempts. */
type Sendable = EmulatedEvent & { readonly id: string; readonly retryDelaysMs: readonly number[] };

/** Sends events to endpoints at least once, in any order, and signs each attempt with a fresh timestamp. */
export class Deliveries {
  readonly log = new NewestEntries<LoggedAttempt>();
  /** The attempts that have no result yet, oldest first. */
  readonly open = new Set<OpenAttempt>();
  /** The endpoints whose receiver was named, until it takes something. */
  readonly #refusing = new Set<string>();
  readonly #dispatcher: Agent;
  #sent = 0;

  constructor(private readonly parts: Parts) {
    const { deliveryTimeoutMs: timeout, closing } = parts;
    this.#dispatcher = new Agent({ connections: MOST_AT_ONCE, connect: { timeout } });
    closing.addEventListener("abort", () => this.#dispatcher.destroy());
  }

  /**
   * Starts to deliver an event. `attempted` resolves after the first attempt at each endpoint, `done` after the last.
   *
   * @throws EmulatorError for an endpoint that is not registered
   */
  dispatch(event: EmulatedEvent) {
    const { event: name, id = newMessageId() } = event;
    const isForged = event.tamper === true || (event.ageSeconds ?? 0) > 0;
    const retryDelaysMs = event.retryDelaysMs ?? (isForged ? [] : this.parts.retryDelaysMs);
    const sendable = { ...event, id, retryDelaysMs };
    const sendings = this.#targetsOf(event).map((endpoint) => {
      const first = this.#attempt(sendable, endpoint, 1);
      return { first, ended: this.#deliver(sendable, endpoint, first) };
    });
    const done: Promise<DeliveryRecord> = Promise.all(sendings.map(({ ended }) => ended)).then(
      (endpoints) => {
        const delivered = endpoints.length > 0 && endpoints.every(({ outcome }) => outcome === "delivered");
        return { id, event: name, delivered, endpoints };
      },
    );
    return { attempted: Promise.all(sendings.map(({ first }) => first)), done };
  }

  /** Returns the last attempt of a delivery, or of all. @throws EmulatorError when there is none */
  latest(id?: string): LoggedAttempt {
    const found = this.log.entries.findLast((attempt) => id === undefined || attempt.id === id);
    if (found !== undefined) return found;
    const problem = id === undefined ? "nothing was delivered yet" : `no delivery ${id} is in the log`;
    throw new EmulatorError("EMULATOR_ARGUMENT", `Cannot replay a delivery: ${problem}.`);
  }

  /** Repeats an attempt, byte for byte. */
  replay(logged: LoggedAttempt): Promise<LoggedAttempt> {
    const { status, error, response, durationMs, retryInMs, ...request } = logged;
    return this.#send({ ...request, number: ++this.#sent, at: this.parts.now(), replayed: true }, []);
  }

  #targetsOf({ endpointId, endpointType, account }: EmulatedEvent): EmulatedEndpoint[] {
    const { registry } = this.parts;
    const owner =
      endpointId === undefined ? DEFAULT_ACCOUNT : registry.found(endpointId, "deliver to").account;
    return registry
      .list(account ?? owner)
      .filter(({ id, type }) => id === (endpointId ?? id) && type === (endpointType ?? type));
  }

  /** Retries after the first attempt for as long as that makes sense. */
  async #deliver(
    event: Sendable,
    { account, id: endpointId }: EmulatedEndpoint,
    first: Promise<LoggedAttempt>,
  ): Promise<EndpointDelivery> {
    const { registry, closing, warn } = this.parts;
    let last = await first;
    while (last.retryInMs !== null && !closing.aborted) {
      // Nobody sees why a program waits two minutes for a receiver that refuses everything.
      if (last.attempt === 2 && !this.#refusing.has(endpointId)) {
        this.#refusing.add(endpointId);
        warn(refusedTwice(last));
      }
      await wait(last.retryInMs, undefined, { signal: closing }).catch(() => undefined);
      const endpoint = registry.get(account, endpointId);
      // The log must not promise an attempt that never comes.
      if (endpoint === undefined) Object.assign(last, { retryInMs: null });
      else if (!closing.aborted) last = await this.#attempt(event, endpoint, last.attempt + 1);
    }
    const outcome = isSuccess(last.status) ? "delivered" : "failed";
    if (outcome === "delivered") this.#refusing.delete(endpointId);
    return { endpointId, outcome, attempts: last.attempt, status: last.status };
  }

  /** Signs an event and sends it. */
  #attempt(event: Sendable, endpoint: EmulatedEndpoint, attempt: number): Promise<LoggedAttempt> {
    const { id, event: name, data = {}, tamper = false, ageSeconds = 0 } = event;
    const { body = JSON.stringify({ type: name, data }) } = event;
    const { id: endpointId, url } = endpoint;
    const at = this.parts.now();
    const timestamp = Math.floor(at / 1000) - ageSeconds;
    const secret = this.parts.secrets.byType[endpoint.type];
    const headers = { "user-agent": USER_AGENT, ...signedHeaders({ id, timestamp, body, secret }) };
    const request = { number: ++this.#sent, at, id, event: name, endpointId, url, attempt };
    const sent = { tampered: tamper, replayed: false, headers, body: tamper ? tampered(body) : body };
    return this.#send({ ...request, ...sent }, event.retryDelaysMs);
  }

  /** Sends a request and logs its result. */
  async #send(request: OpenAttempt, delaysMs: readonly number[]): Promise<LoggedAttempt> {
    this.open.add(request);
    const { status, headers, body, failure, durationMs } = await postDelivery({
      url: request.url,
      headers: request.headers,
      body: request.body,
      dispatcher: this.#dispatcher,
      timeoutMs: this.parts.deliveryTimeoutMs,
      maxResponseBytes: KEPT_RESPONSE_BYTES,
      signal: this.parts.closing,
    });
    this.open.delete(request);
    const delayMs = isSuccess(status) ? undefined : delaysMs[request.attempt - 1];
    // Seconds. The other form, a date, counts as 0.
    const retryAfterMs = Math.min(Number(headers["retry-after"]) * 1000 || 0, MAX_RETRY_AFTER_MS);
    const retryInMs = delayMs === undefined ? null : Math.max(delayMs, retryAfterMs);
    const result = { status, error: failure, response: body.toString("utf8") };
    const entry = { ...request, ...result, durationMs, retryInMs };
    this.log.add(entry);
    return entry;
  }
}

/** Names the endpoint by its id, because its url can contain a secret. */
function refusedTwice({ id, endpointId, status, error, event, retryInMs }: LoggedAttempt): string {
  const result = status === null ? `no response (${error})` : status;
  const next = Math.ceil((retryInMs ?? 0) / 1000);
  return `Attempt 2 of ${foreign(event)} ${foreign(id)} got ${result} from endpoint ${endpointId}. The next one follows in ${next} s. Correct the receiver. You see this once until it accepts something.`;
}
