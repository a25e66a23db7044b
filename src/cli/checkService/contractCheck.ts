import { randomUUID } from "node:crypto";
import { type Endpoint, type EndpointList, WebhookError, type WebhooksClient } from "../../client";
import { type Clock, sleep } from "../../client/clock";
import { isInWindow, parseTimestamp } from "../../provider/time";
import { sameUrl } from "../../shared/url";
import type { ClauseId } from "./clauses";

/** How long a list may lag behind a registration or a deletion, in milliseconds. */
const LAG_MS = 5_000;
const PAUSE_MS = 250;
/** How long after `Date` an endpoint may say that it was created, in milliseconds. */
const GRACE_PERIOD_MS = 20_000;

/** Whether a service keeps a clause, undefined if nobody can tell, and what came back. */
export type Verdict = readonly [clause: ClauseId, isKept: boolean | undefined, cameBack: string];

/** What a request led to. */
interface Outcome<T> {
  readonly value?: T;
  readonly error?: WebhookError;
  readonly cameBack: string;
}

interface CheckOptions {
  readonly client: WebhooksClient;
  /** The same service with a wrong API key. */
  readonly wrongKey: WebhooksClient;
  /** The user's own url. */
  readonly url: string;
  readonly clock: Clock;
}

/** Checks whether a service keeps the contract. */
export class ContractCheck {
  /** Is in each url that is registered, so that nobody else's endpoint has it. */
  readonly #mark = randomUUID();
  /** The user's own, with the mark. */
  readonly #url: string;
  /** The ids that the service listed before: they are somebody's. */
  #before: readonly string[] = [];
  readonly #made = new Set<string>();
  /** The ids of what may be left in the end. */
  readonly left: string[] = [];

  constructor(private readonly options: CheckOptions) {
    const { url } = options;
    this.#url = `${url}${url.includes("?") ? "&" : "?"}check=${this.#mark}`;
  }

  /**
   * Checks the clauses, as far as they can be checked. Deletes what it has registered, also if the caller breaks off.
   *
   * @throws WebhookError if the service cannot be reached, or refuses the key
   */
  async *run(): AsyncGenerator<Verdict> {
    const { client, wrongKey } = this.options;
    const { value: list, error, cameBack } = await outcomeOf(client.list());
    if (error?.code === "UNREACHABLE" || error?.code === "UNAUTHORIZED") throw error;
    yield ["list", list?.complete === true, list?.complete === false ? "2xx with a partial list" : cameBack];
    const refused = await outcomeOf(wrongKey.list());
    yield ["key", refused.error?.code === "UNAUTHORIZED", refused.cameBack];
    // Without a list, nothing tells what was there before.
    if (list === undefined) return;
    yield ["date", list.serverTime !== null, `Date was ${dateOf(list)}`];
    this.#before = rowsOf(list).map(({ id }) => id);
    try {
      yield* this.#registerAndDelete(list);
    } finally {
      await this.#cleanUp();
    }
  }

  async *#registerAndDelete(before: EndpointList): AsyncGenerator<Verdict> {
    const { client } = this.options;
    const made = await this.#register(this.#url);
    yield this.#compared("register", made);
    if (made.value === undefined) return;
    const { id } = made.value;
    const inList = ({ endpoints }: EndpointList) => endpoints.find((each) => each.id === id);

    const listing = await this.#listUntil((list) => inList(list) !== undefined);
    const listed = listing.list && inList(listing.list);
    yield ["list-lag", listed !== undefined, `${listed ? "listed" : "not listed"} after ${listing.waited}`];
    if (listed !== undefined) yield timestampVerdict(listed, before);
    yield this.#compared("get", await outcomeOf(client.get(id)));

    yield this.#compared("duplicates", await this.#register(this.#url));
    const invalid = await this.#register(`not-a-url-${this.#mark}`);
    yield invalid.value === undefined
      ? ["refusals", invalid.error?.code === "REJECTED", invalid.cameBack]
      : ["refusals", undefined, "2xx: the service accepts something that is not a url"];

    const deleted = await outcomeOf(client.delete(id));
    if (deleted.error !== undefined) return yield ["delete", false, deleted.cameBack];
    const { list, waited } = await this.#listUntil((each) => inList(each) === undefined);
    const isGone = list !== undefined && inList(list) === undefined;
    yield ["delete", isGone, isGone ? deleted.cameBack : `2xx, and still listed after ${waited}`];
    const again = [await outcomeOf(client.get(id)), await outcomeOf(client.delete(id))];
    const other = again.find(({ error }) => error?.code !== "NOT_FOUND");
    yield ["unknown-id", other === undefined, other?.cameBack ?? "404 or 410 to both"];
  }

  /** Registers an endpoint. Some services keep one for each url or account: what they respond with then is somebody's, and no value. */
  async #register(url: string): Promise<Outcome<Endpoint>> {
    const outcome = await outcomeOf(this.options.client.register({ url, type: "development" }));
    const { value } = outcome;
    if (value === undefined) return outcome;
    if (this.#made.has(value.id) || this.#before.includes(value.id))
      return { cameBack: `2xx with ${value.id}, which was there before` };
    this.#made.add(value.id);
    return outcome;
  }

  /** Deletes what was registered, also if the response was lost and the list shows it. */
  async #cleanUp(): Promise<void> {
    const { client } = this.options;
    const { value: list } = await outcomeOf(client.list());
    if (list === undefined) this.left.push("perhaps one whose response was lost");
    for (const { id, url } of list ? rowsOf(list) : [])
      if (url?.includes(this.#mark) && !this.#before.includes(id)) this.#made.add(id);
    for (const id of this.#made) {
      const { error } = await outcomeOf(client.delete(id));
      if (error !== undefined && error.code !== "NOT_FOUND") this.left.push(id);
    }
  }

  /** Compares an endpoint in a response to what was sent. */
  #compared(clause: ClauseId, { value, cameBack }: Outcome<Endpoint>): Verdict {
    const isSame = value?.type === "development" && sameUrl(value.url, this.#url);
    return [clause, isSame, value && !isSame ? "2xx with another url or type than was sent" : cameBack];
  }

  /** Lists until a list is as it should be, or fails, or the time is over. */
  async #listUntil(isRight: (list: EndpointList) => boolean) {
    const { client, clock } = this.options;
    const startedAt = clock.now();
    for (;;) {
      const { value: list } = await outcomeOf(client.list());
      const waitedMs = clock.now() - startedAt;
      const waited = `${(waitedMs / 1_000).toFixed(1)} s`;
      if (list === undefined || isRight(list) || waitedMs >= LAG_MS) return { list, waited };
      await sleep(PAUSE_MS, { clock, signal: undefined });
    }
  }
}

function timestampVerdict({ createdAt }: Endpoint, before: EndpointList): Verdict {
  const { serverTime } = before;
  const made = parseTimestamp(createdAt) ?? Number.NaN;
  const isInTime = serverTime === null ? undefined : isInWindow(made, serverTime, GRACE_PERIOD_MS);
  return [
    "timestamps",
    isInTime,
    `createdAt is ${JSON.stringify(createdAt)}, and Date was ${dateOf(before)}`,
  ];
}

function dateOf({ serverTime }: EndpointList): string {
  return serverTime === null ? "missing" : new Date(serverTime).toUTCString();
}

function rowsOf({ endpoints, unrecognized }: EndpointList) {
  return [...endpoints, ...unrecognized];
}

async function outcomeOf<T>(request: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await request, cameBack: "2xx" };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { error, cameBack: `${error.statusCode ?? "no response"} (${error.code})` };
  }
}
