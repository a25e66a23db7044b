import { randomUUID } from "node:crypto";
import type { Endpoint, EndpointList, WebhooksClient } from "../../client";
import { WebhookEndpointNotFoundError, WebhookRegistrationError } from "../../client";
import { type Clock, sleep } from "../../client/clock";
import { isInWindow, parseTimestamp } from "../../provider/time";
import { sameUrl } from "../../shared/url";
import { CLAUSES, type ClauseId, type Verdict } from "./clauses";
import { type Outcome, outcomeOf, type Responses } from "./responses";

/** How long a list may lag behind a registration or a deletion, in milliseconds. */
const LAG_MS = 5_000;
const PAUSE_MS = 250;
/** How long after `Date` an endpoint may say that it was created, in milliseconds. */
const PATIENCE_MS = 20_000;
const UNTRIED = {
  verdict: "cannot tell",
  cameBack: "not tried, because another clause comes first",
} as const;

interface PlayOptions {
  readonly client: WebhooksClient;
  /** The same service with a wrong API key. */
  readonly stranger: WebhooksClient;
  /** The answers to both. */
  readonly responses: Responses;
  /** The user's own url. */
  readonly url: string;
  readonly clock: Clock;
  /** Ends the check after the clause under way. */
  readonly signal: AbortSignal;
}

/** Plays the contract at a service, clause by clause. */
export class Play {
  readonly #verdicts = new Map<ClauseId, Verdict>();
  /** The user's url with a UUID, so that nobody else's endpoint has it. */
  readonly #url: string;
  /** Not a url, so a service should reject it. */
  readonly #invalid: string;
  /** The ids that the service listed before: they are somebody's. */
  #before: readonly string[] = [];
  readonly #made = new Set<string>();
  /** Whether a registration got no usable answer. */
  #isLost = false;

  constructor(private readonly options: PlayOptions) {
    const { url } = options;
    const mark = `check=${randomUUID()}`;
    this.#url = `${url}${url.includes("?") ? "&" : "?"}${mark}`;
    this.#invalid = `not-a-url?${mark}`;
  }

  /** Plays the clauses, as far as they can be played. @throws WebhookError if the service cannot be reached, or refuses the key */
  async run(): Promise<void> {
    const { client, stranger, signal } = this.options;
    const list = await outcomeOf(client.list());
    if (["UNREACHABLE", "UNAUTHORIZED"].includes(list.error?.code ?? "")) throw list.error;
    const isPartial = list.value?.complete === false;
    this.#judge("list", list.value?.complete === true, isPartial ? "2xx with a partial list" : list.cameBack);
    const refused = await outcomeOf(stranger.list());
    this.#judge("key", refused.error?.code === "UNAUTHORIZED", refused.cameBack);
    // Without a list, nothing tells what was there before.
    if (list.value === undefined || signal.aborted) return;
    this.#before = rowsOf(list.value).map(({ id }) => id);
    const { serverTime } = list.value;
    const id = await this.#register("register");
    if (id === undefined) return;
    const steps = [
      () => this.#lookAt(id, serverTime),
      () => this.#register("duplicates"),
      () => this.#registerInvalid(),
      () => this.#delete(id),
    ];
    for (const step of steps) if (!signal.aborted) await step();
  }

  get verdicts(): readonly Verdict[] {
    const { count, withoutDate, withSecret } = this.options.responses;
    this.#judge("date", !withoutDate, withoutDate ?? `${count} responses, each with a Date header`);
    this.#judge("secrets", !withSecret, withSecret ?? `${count} responses, none with a signing secret`);
    const clauses = Object.keys(CLAUSES) as ClauseId[];
    return clauses.map((clause) => this.#verdicts.get(clause) ?? { clause, ...UNTRIED });
  }

  /** Deletes what was registered. Returns the ids of what may be left, or "some" if the list does not show it. */
  async cleanUp(): Promise<string[]> {
    const isOurs = (url: string | null) => url !== null && (sameUrl(url, this.#url) || url === this.#invalid);
    const ours = (list: EndpointList) =>
      rowsOf(list).flatMap(({ id, url }) => (isOurs(url) && !this.#before.includes(id) ? [id] : []));
    const { value: list } = await this.#listUntil(
      (shown) => !this.#isLost || ours(shown).some((id) => !this.#made.has(id)),
    );
    const left: string[] = [];
    for (const id of new Set([...this.#made, ...(list ? ours(list) : [])])) {
      const { error } = await outcomeOf(this.options.client.delete(id));
      if (error !== undefined && !(error instanceof WebhookEndpointNotFoundError)) left.push(id);
    }
    return this.#isLost && list?.complete !== true ? [...left, "some"] : left;
  }

  /** What differs once differs. */
  #judge(clause: ClauseId, isKept: boolean | undefined, cameBack: string): void {
    if (this.#verdicts.get(clause)?.verdict === "differs") return;
    const verdict = isKept === undefined ? "cannot tell" : isKept ? "meets" : "differs";
    this.#verdicts.set(clause, { clause, verdict, cameBack });
  }

  async #send(url: string): Promise<Outcome<Endpoint> & { readonly isNew: boolean }> {
    const outcome = await outcomeOf(this.options.client.register({ url, type: "development" }));
    const { value, error } = outcome;
    if (error instanceof WebhookRegistrationError) this.#isLost ||= error.outcome === "undecided";
    // Some services keep one endpoint for each url or account, and answer with that.
    const isNew = value !== undefined && !this.#made.has(value.id) && !this.#before.includes(value.id);
    if (isNew) this.#made.add(value.id);
    return { ...outcome, isNew };
  }

  /** Returns the id of a new endpoint, if the service made it as it should. */
  async #register(clause: "register" | "duplicates"): Promise<string | undefined> {
    const { value, isNew, cameBack } = await this.#send(this.#url);
    if (value === undefined || isNew) return this.#judgeEndpoint(clause, value, cameBack);
    this.#judge(clause, false, `2xx with ${value.id}, which was there before`);
    return undefined;
  }

  /** Judges an endpoint that the service answered with, and returns its id if it is as it was sent. */
  #judgeEndpoint(clause: ClauseId, endpoint: Endpoint | undefined, cameBack: string): string | undefined {
    const isRight = endpoint?.type === "development" && sameUrl(endpoint.url, this.#url);
    const isOther = endpoint !== undefined && !isRight;
    this.#judge(clause, isRight, isOther ? "2xx with another url or type than was sent" : cameBack);
    return isRight ? endpoint.id : undefined;
  }

  async #registerInvalid(): Promise<void> {
    const { value, error, cameBack } = await this.#send(this.#invalid);
    if (value === undefined) this.#judge("refusals", error?.code === "REJECTED", cameBack);
    else this.#judge("refusals", undefined, "2xx: the service accepts something that is not a url");
  }

  async #lookAt(id: string, sentAt: number | null): Promise<void> {
    const find = ({ endpoints }: EndpointList) => endpoints.find((each) => each.id === id);
    const { value: list, waited } = await this.#listUntil((each) => find(each) !== undefined);
    const listed = list && find(list);
    this.#judge("list-lag", listed !== undefined, `${listed ? "listed" : "not listed"} after ${waited}`);
    const { value, cameBack } = await outcomeOf(this.options.client.get(id));
    this.#judgeEndpoint("get", value, cameBack);
    const shown = listed ?? value;
    if (shown === undefined) return;
    const made = parseTimestamp(shown.createdAt);
    const isInTime =
      made !== undefined && (sentAt === null ? undefined : isInWindow(made, sentAt, PATIENCE_MS));
    const date = sentAt === null ? "missing" : new Date(sentAt).toUTCString();
    this.#judge(
      "timestamps",
      isInTime,
      `createdAt is ${JSON.stringify(shown.createdAt)}, and Date was ${date}`,
    );
  }

  async #delete(id: string): Promise<void> {
    const { client } = this.options;
    const { error, cameBack } = await outcomeOf(client.delete(id));
    this.#judge("delete", error === undefined, cameBack);
    if (error !== undefined) return;
    const { isRight, waited } = await this.#listUntil(({ endpoints }) =>
      endpoints.every((each) => each.id !== id),
    );
    if (!isRight) this.#judge("delete", false, `2xx, and still listed after ${waited}`);
    for (const again of [await outcomeOf(client.get(id)), await outcomeOf(client.delete(id))])
      this.#judge("unknown-id", again.error instanceof WebhookEndpointNotFoundError, again.cameBack);
  }

  /** Lists until a list is as it should be, or the time is over. */
  async #listUntil(isRight: (list: EndpointList) => boolean) {
    const { client, clock } = this.options;
    const startedAt = clock.now();
    for (;;) {
      const { value } = await outcomeOf(client.list());
      const waitedMs = clock.now() - startedAt;
      const isOver = value === undefined || isRight(value);
      if (isOver || waitedMs >= LAG_MS)
        return {
          value,
          isRight: isOver && value !== undefined,
          waited: `${(waitedMs / 1_000).toFixed(1)} s`,
        };
      await sleep(PAUSE_MS, { clock, signal: undefined });
    }
  }
}

function rowsOf({ endpoints, unrecognized }: EndpointList) {
  return [...endpoints, ...unrecognized];
}
