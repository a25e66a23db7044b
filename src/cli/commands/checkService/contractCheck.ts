import { randomUUID } from "node:crypto";
import { type Endpoint, type EndpointList, WebhookError, type WebhooksClient } from "../../../client";
import { type Clock, sleep } from "../../../client/clock";
import { rowsOf } from "../../../client/endpoint";
import { LAG_MS } from "../../../provider/facts/time";
import type { Verdict } from "./clauses";
import {
  dateOf,
  type Outcome,
  type RegisteredUrl,
  spellingVerdict,
  timestampVerdict,
  typeVerdict,
} from "./comparisons";

const PAUSE_MS = 250;

interface CheckOptions {
  readonly client: WebhooksClient;
  /** The same service with a wrong API key. */
  readonly wrongKey: WebhooksClient;
  /** The user's own url. */
  readonly url: string;
  readonly clock: Clock;
}

/** Checks whether a service keeps the contract: all clauses but `secrets`, for which the command watches each response. */
export class ContractCheck {
  /** Is in each url that is registered, so that nobody else's endpoint has it. */
  readonly #mark = randomUUID();
  /** The user's own, with the mark. */
  readonly #url: string;
  /** The ids that the service listed before: they are somebody's. */
  #before: readonly string[] = [];
  /** The ids of what was registered and not yet deleted. */
  readonly #made = new Set<string>();
  readonly #deleted = new Set<string>();
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
    yield typeVerdict("register", made);
    if (made.value === undefined) return;
    const { id } = made.value;
    const inList = ({ endpoints }: EndpointList) => endpoints.find((each) => each.id === id);

    const listing = await this.#listUntil((list) => inList(list) !== undefined);
    const listed = listing.value && inList(listing.value);
    yield ["list-lag", listed !== undefined, `${listed ? "listed" : "not listed"} after ${listing.waited}`];
    if (listed !== undefined) yield timestampVerdict(listed, before);
    const got = await outcomeOf(client.get(id));
    yield typeVerdict("get", got);
    yield typeVerdict("duplicates", await this.#register(this.#url));
    const invalid = await this.#register(`not-a-url-${this.#mark}`);
    yield invalid.value === undefined
      ? ["refusals", invalid.error?.code === "REJECTED", invalid.cameBack]
      : ["refusals", undefined, "2xx: the service accepts something that is not a url"];
    const asShown = { sent: this.#url, ownUrl: this.options.url };
    const shown = [made, { ...listing, value: listed }, got].map((each) => ({ ...each, ...asShown }));
    yield spellingVerdict([await this.#registerOddUrl(), ...shown]);

    yield* this.#delete(id);
    if (!this.#deleted.has(id)) return;
    for (const other of this.#made) await this.#deleteMade(other);
    const { value, cameBack } = await this.#register(this.#url);
    yield value === undefined
      ? ["ids", undefined, cameBack]
      : ["ids", !this.#deleted.has(value.id), `2xx with ${value.id}, after ${[...this.#deleted].join(", ")}`];
  }

  /** Deletes an endpoint, and checks what the service then says of it. */
  async *#delete(id: string): AsyncGenerator<Verdict> {
    const { client } = this.options;
    const deleted = await this.#deleteMade(id);
    yield ["delete", deleted.error === undefined, deleted.cameBack];
    if (deleted.error !== undefined) return;
    const isListed = (list: EndpointList) => rowsOf(list).some((each) => each.id === id);
    const listing = await this.#listUntil((list) => !isListed(list));
    const got = await this.#until(
      () => client.get(id),
      ({ error }) => error !== undefined,
    );
    const places = [
      listing.value && isListed(listing.value) && "the list",
      got.value && "a get of it",
    ].filter(Boolean);
    yield places.length > 0
      ? ["deleted", false, `${places.join(" and ")} still showed it as an endpoint five seconds later`]
      : ["deleted", listing.value && true, "no longer listed"];
    const again = [...(got.value ? [] : [got]), await outcomeOf(client.delete(id))];
    const other = again.find(({ error }) => error?.code !== "NOT_FOUND");
    yield ["unknown-id", other === undefined, other?.cameBack ?? "404 or 410"];
  }

  /** Registers a url with what some services change: a capital letter and a slash in its path, a token, and a slash at its end. */
  async #registerOddUrl(): Promise<RegisteredUrl> {
    const { origin, pathname } = new URL(this.options.url);
    const ownUrl = origin + pathname.replace(/\/$/, "");
    const sent = `${ownUrl}/Check/?token=check&check=${this.#mark}/`;
    return { ...(await this.#register(sent)), sent, ownUrl };
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

  async #deleteMade(id: string): Promise<Outcome<void>> {
    const outcome = await outcomeOf(this.options.client.delete(id));
    if (outcome.error === undefined || outcome.error.code === "NOT_FOUND") {
      this.#made.delete(id);
      this.#deleted.add(id);
    }
    return outcome;
  }

  /** Deletes what was registered, also if the response was lost and the list shows it. */
  async #cleanUp(): Promise<void> {
    const { client } = this.options;
    const { value: list } = await outcomeOf(client.list());
    if (list === undefined) this.left.push("perhaps one whose response was lost");
    for (const { id, url } of list ? rowsOf(list) : [])
      if (url?.includes(this.#mark) && ![...this.#before, ...this.#deleted].includes(id)) this.#made.add(id);
    for (const id of this.#made) await this.#deleteMade(id);
    this.left.push(...this.#made);
  }

  /** Lists until a list is as it should be, or fails, or the time is over. */
  async #listUntil(isRight: (list: EndpointList) => boolean) {
    const { client } = this.options;
    return this.#until(
      () => client.list(),
      ({ value }) => value === undefined || isRight(value),
    );
  }

  async #until<T>(ask: () => Promise<T>, isRight: (outcome: Outcome<T>) => boolean) {
    const { clock } = this.options;
    const startedAt = clock.now();
    for (;;) {
      const outcome = await outcomeOf(ask());
      const waitedMs = clock.now() - startedAt;
      if (isRight(outcome) || waitedMs >= LAG_MS)
        return { ...outcome, waited: `${(waitedMs / 1_000).toFixed(1)} s` };
      await sleep(PAUSE_MS, { clock, signal: undefined });
    }
  }
}

async function outcomeOf<T>(request: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await request, cameBack: "2xx" };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { error, cameBack: `${error.statusCode ?? "no response"} (${error.code})` };
  }
}
