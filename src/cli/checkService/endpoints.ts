import { randomUUID } from "node:crypto";
import {
  type Endpoint,
  type EndpointList,
  WebhookEndpointNotFoundError,
  WebhookError,
  WebhookRegistrationError,
  type WebhooksClient,
} from "../../client";
import { type Clock, sleep } from "../../client/clock";
import { sameUrl } from "../../shared/url";

/** How long a list may lag behind a registration or a deletion, in milliseconds. */
const LAG_MS = 5_000;
const PAUSE_MS = 250;

/** What a request led to. */
export type Outcome<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: WebhookError };

export async function outcomeOf<T>(answer: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await answer };
  } catch (error) {
    if (error instanceof WebhookError) return { error };
    throw error;
  }
}

interface Options {
  readonly client: WebhooksClient;
  readonly clock: Clock;
  /** The user's own url. */
  readonly url: string;
}

/** The endpoints that a check registers. Nobody else has their urls: each ends with a UUID. */
export class CheckEndpoints {
  /** The user's url, with the UUID. */
  readonly own: string;
  /** Not a url, so a service should reject it. */
  readonly invalid: string;
  readonly made = new Set<string>();
  /** What the service listed before. */
  before: EndpointList | undefined;
  #isSent = false;
  /** Whether a registration got no usable answer. */
  #isLost = false;

  constructor(private readonly options: Options) {
    const mark = `check=${randomUUID()}`;
    this.own = `${options.url}${options.url.includes("?") ? "&" : "?"}${mark}`;
    this.invalid = `not-a-url?${mark}`;
  }

  async register(url: string): Promise<Outcome<Endpoint> & { readonly isNew: boolean }> {
    this.#isSent = true;
    const outcome = await outcomeOf(this.options.client.register({ url, type: "development" }));
    const { value, error } = outcome;
    if (error instanceof WebhookRegistrationError) this.#isLost ||= error.outcome === "undecided";
    // Some services keep one endpoint for each url or account, and answer with that. It is somebody's.
    const isNew = value !== undefined && !this.made.has(value.id) && !this.#wasThere(value.id);
    if (isNew) this.made.add(value.id);
    return { ...outcome, isNew };
  }

  /** Lists until a list is as it should be, or the time is over. */
  async awaitList(
    isRight: (list: EndpointList) => boolean,
  ): Promise<Outcome<EndpointList> & { readonly isRight: boolean; readonly waitedMs: number }> {
    const { client, clock } = this.options;
    const startedAt = clock.now();
    for (;;) {
      const outcome = await outcomeOf(client.list());
      const waitedMs = clock.now() - startedAt;
      const result = { ...outcome, waitedMs, isRight: outcome.value !== undefined && isRight(outcome.value) };
      if (outcome.error !== undefined || result.isRight || waitedMs >= LAG_MS) return result;
      await sleep(PAUSE_MS, { clock, signal: undefined });
    }
  }

  /** Deletes them. Returns the ids of those that may still be there, or "some" if the list does not show them. */
  async cleanUp(): Promise<string[]> {
    if (!this.#isSent) return [];
    const ours = ({ endpoints, unrecognized }: EndpointList) =>
      [...endpoints, ...unrecognized].filter(({ id, url }) => this.#isOurs(url) && !this.#wasThere(id));
    const { value: list } = await this.awaitList(
      (shown) => !this.#isLost || ours(shown).some(({ id }) => !this.made.has(id)),
    );
    const found = list === undefined ? [] : ours(list).map(({ id }) => id);
    const left: string[] = [];
    for (const id of new Set([...this.made, ...found])) if (!(await this.#isDeleted(id))) left.push(id);
    return this.#isLost && list?.complete !== true ? [...left, "some"] : left;
  }

  /** A service that answers a deletion with an error may have deleted it nevertheless. */
  async #isDeleted(id: string): Promise<boolean> {
    const { client } = this.options;
    const { error } = await outcomeOf(client.delete(id));
    if (error === undefined || error instanceof WebhookEndpointNotFoundError) return true;
    return (await outcomeOf(client.get(id))).error instanceof WebhookEndpointNotFoundError;
  }

  #wasThere(id: string): boolean {
    const { endpoints = [], unrecognized = [] } = this.before ?? {};
    return [...endpoints, ...unrecognized].some((each) => each.id === id);
  }

  #isOurs(url: string | null): boolean {
    return url !== null && (sameUrl(url, this.own) || url === this.invalid);
  }
}
