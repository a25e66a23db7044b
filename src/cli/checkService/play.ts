import {
  type Endpoint,
  type EndpointList,
  WebhookEndpointNotFoundError,
  type WebhooksClient,
} from "../../client";
import { isInWindow, parseTimestamp } from "../../provider/time";
import { sameUrl } from "../../shared/url";
import { CLAUSES, type ClauseId, type Verdict } from "./clauses";
import { type CheckEndpoints, type Outcome, outcomeOf } from "./endpoints";
import type { Recorder } from "./recorder";

/** How long after `Date` an endpoint may say that it was created, in milliseconds. */
const PATIENCE_MS = 20_000;

interface PlayOptions {
  readonly client: WebhooksClient;
  /** The same service with a wrong API key. */
  readonly stranger: WebhooksClient;
  readonly endpoints: CheckEndpoints;
  readonly recorder: Recorder;
  /** Ends the check after the clause under way. */
  readonly signal: AbortSignal;
}

/** Plays the contract at a service, clause by clause. */
export class Play {
  readonly #verdicts = new Map<ClauseId, Verdict>();

  constructor(private readonly options: PlayOptions) {}

  /** Plays the clauses that only read. @throws WebhookError if the service cannot be reached, or refuses the key */
  async reading(): Promise<void> {
    const { client, stranger, endpoints } = this.options;
    const list = await outcomeOf(client.list());
    if (["UNREACHABLE", "UNAUTHORIZED"].includes(list.error?.code ?? "")) throw list.error;
    endpoints.before = list.value;
    const isPartial = list.value?.complete === false;
    this.#judge(
      "list",
      list.value?.complete === true,
      isPartial ? "2xx with a partial list" : describe(list),
    );
    const refused = await outcomeOf(stranger.list());
    this.#judge("key", refused.error?.code === "UNAUTHORIZED", describe(refused));
  }

  /** Plays the clauses that register something, as far as they can be played: not without a list. */
  async registering(): Promise<void> {
    const { endpoints, signal } = this.options;
    const { before, own } = endpoints;
    if (before === undefined || signal.aborted) return;
    const id = await this.#register("register", own);
    if (id === undefined) return;
    await this.#lookAt(id, before.serverTime);
    if (!signal.aborted) await this.#register("duplicates", own);
    if (!signal.aborted) await this.#registerInvalid();
    if (!signal.aborted) await this.#delete(id);
  }

  get verdicts(): readonly Verdict[] {
    const { answered, withoutDate, withSecret } = this.options.recorder;
    this.#judge(
      "date",
      withoutDate === undefined,
      withoutDate ?? `${answered} responses, each with a Date header`,
    );
    this.#judge(
      "secrets",
      withSecret === undefined,
      withSecret ?? `${answered} responses, none with a signing secret`,
    );
    const untried = {
      verdict: "cannot tell",
      cameBack: "not tried, because another clause comes first",
    } as const;
    return (Object.keys(CLAUSES) as ClauseId[]).map(
      (clause) => this.#verdicts.get(clause) ?? { clause, ...untried },
    );
  }

  /** What differs once differs. */
  #judge(clause: ClauseId, isKept: boolean | undefined, cameBack: string): void {
    if (this.#verdicts.get(clause)?.verdict === "differs") return;
    const verdict = isKept === undefined ? "cannot tell" : isKept ? "meets" : "differs";
    this.#verdicts.set(clause, { clause, verdict, cameBack });
  }

  /** Returns the id of a new endpoint, if the service made it as it should. */
  async #register(clause: "register" | "duplicates", url: string): Promise<string | undefined> {
    const outcome = await this.options.endpoints.register(url);
    const { value, isNew } = outcome;
    const isRight = isNew && isAsSent(value, url);
    const isOld = value !== undefined && !isNew;
    this.#judge(
      clause,
      isRight,
      isOld ? `2xx with ${value.id}, which was there before` : describe(outcome, isRight),
    );
    return isRight ? value?.id : undefined;
  }

  async #registerInvalid(): Promise<void> {
    const { endpoints } = this.options;
    const outcome = await endpoints.register(endpoints.invalid);
    const { value, error } = outcome;
    if (value !== undefined)
      this.#judge("refusals", undefined, "2xx: the service accepts something that is not a url");
    else this.#judge("refusals", error?.code === "REJECTED", describe(outcome));
  }

  async #lookAt(id: string, sentAt: number | null): Promise<void> {
    const { client, endpoints } = this.options;
    const find = ({ endpoints: listed }: EndpointList) => listed.find((each) => each.id === id);
    const {
      value: list,
      waitedMs,
      isRight: isListed,
    } = await endpoints.awaitList((each) => find(each) !== undefined);
    this.#judge("list-lag", isListed, `${isListed ? "listed" : "not listed"} after ${seconds(waitedMs)}`);
    const got = await outcomeOf(client.get(id));
    const isRight = isAsSent(got.value, endpoints.own);
    this.#judge("get", isRight, describe(got, isRight));
    const shown = (list && find(list)) ?? got.value;
    if (shown !== undefined) this.#judgeTime(shown, sentAt);
  }

  #judgeTime({ createdAt }: Endpoint, sentAt: number | null): void {
    const made = parseTimestamp(createdAt);
    const isRight =
      made !== undefined && (sentAt === null ? undefined : isInWindow(made, sentAt, PATIENCE_MS));
    const date = sentAt === null ? "missing" : new Date(sentAt).toUTCString();
    this.#judge("timestamps", isRight, `createdAt is ${JSON.stringify(createdAt)}, and Date was ${date}`);
  }

  async #delete(id: string): Promise<void> {
    const { client, endpoints } = this.options;
    const deleted = await outcomeOf(client.delete(id));
    this.#judge("delete", deleted.error === undefined, describe(deleted));
    if (deleted.error !== undefined) return;
    const { isRight, waitedMs } = await endpoints.awaitList((list) =>
      list.endpoints.every((each) => each.id !== id),
    );
    if (!isRight) this.#judge("delete", false, `2xx, and still listed after ${seconds(waitedMs)}`);
    for (const again of [await outcomeOf(client.get(id)), await outcomeOf(client.delete(id))])
      this.#judge("unknown-id", again.error instanceof WebhookEndpointNotFoundError, describe(again));
  }
}

function isAsSent(endpoint: Endpoint | undefined, sent: string): boolean {
  return endpoint !== undefined && sameUrl(endpoint.url, sent) && endpoint.type === "development";
}

function describe({ error }: Outcome<unknown>, isRight = true): string {
  if (error !== undefined) return `${error.statusCode ?? "no response"} (${error.code})`;
  return isRight ? "2xx" : "2xx with another url or type than was sent";
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
