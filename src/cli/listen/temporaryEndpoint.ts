import {
  type Endpoint,
  type EndpointList,
  WebhookEndpointNotFoundError,
  WebhookError,
  WebhookRegistrationError,
} from "../../client";
import { sleep, systemClock } from "../../client/clock";
import { alike } from "../../settlement/identity";
import { candidates } from "../../endpoint/settlement";
import type { UnansweredRegistration } from "../../endpoint/types";
import { describeUrl } from "../../shared/url";
import type { Account } from "../account";
import { CliError } from "../errors";

export interface TemporaryEndpointOptions {
  readonly account: Account;
  readonly url: string;
  /** Prints what is going on. */
  readonly note: (text: string) => void;
}

/** How long to look for an endpoint whose registration was answered with a failure, in milliseconds. */
const LOOK_AFTER_ANSWER_MS = 5_000;
/** Between two lists, in milliseconds. */
const PAUSE_MS = 500;

/** A development endpoint that exists while a command runs. */
export class TemporaryEndpoint {
  #id: string | undefined;
  /** True while an endpoint may exist that this process has to delete. */
  #mayExist = false;
  readonly #options: TemporaryEndpointOptions;

  constructor(options: TemporaryEndpointOptions) {
    this.#options = options;
  }

  /** What a process leaves behind that ends now. Undefined if that is nothing. */
  get leftover(): string | undefined {
    if (!this.#mayExist) return undefined;
    const what = this.#id === undefined ? "an endpoint" : `the endpoint ${this.#id}`;
    return `${what} for ${describeUrl(this.#options.url)} may still be registered. \`npx webhook-endpoints list\` shows it, and \`prune\` deletes it`;
  }

  /**
   * Registers the endpoint and returns its id. If the answer is lost, looks for the endpoint in the service's list.
   *
   * @throws WebhookError when nothing was registered
   * @throws CliError `REGISTRATION_LOST` when nothing shows whether it was
   */
  async register(): Promise<string> {
    const { account, note } = this.#options;
    const { client } = account;
    const identity = this.#identity;
    const listedAt = Date.now();
    const before = await client.list();
    const same = alike(before, identity).map(({ id }) => id);
    if (same.length > 0)
      note(`The service already has ${same.join(", ")} with this url, so each event arrives once more.`);
    const startedAt = Date.now();
    this.#mayExist = true;
    try {
      this.#id = (await client.register(identity)).id;
    } catch (error) {
      const undecided = error instanceof WebhookRegistrationError && error.outcome === "undecided";
      const found = undecided
        ? await this.#find(error, unanswered(before, { same, listedAt, startedAt }))
        : undefined;
      if (found === undefined) this.#mayExist = false;
      if (found === undefined) throw error;
      this.#id = found.id;
    }
    return this.#id;
  }

  /** Deletes the endpoint, if there is one. @throws CliError `ENDPOINT_LEFT` */
  async remove(): Promise<void> {
    const id = this.#id;
    if (id === undefined || !this.#mayExist) return;
    try {
      await this.#options.account.client.delete(id);
    } catch (error) {
      if (!(error instanceof WebhookEndpointNotFoundError))
        throw new CliError(
          "ENDPOINT_LEFT",
          `${this.leftover}: it could not be deleted. ${error instanceof WebhookError ? error.reason : ""}`.trim(),
          { cause: error },
        );
    }
    this.#mayExist = false;
  }

  get #identity() {
    return { url: this.#options.url, type: "development" } as const;
  }

  /**
   * Lists until the endpoint of a registration without an answer shows, or until it counts as never made. Returns undefined then.
   *
   * @throws CliError `REGISTRATION_LOST`
   */
  async #find(
    error: WebhookRegistrationError,
    registration: UnansweredRegistration,
  ): Promise<Endpoint | undefined> {
    const { account, note, url } = this.#options;
    const waitMs = error.statusCode === undefined ? account.patienceMs : LOOK_AFTER_ANSWER_MS;
    note(
      `The answer to the registration was lost. Looking for the endpoint for up to ${Math.ceil(waitMs / 1000)} s.`,
    );
    const until = systemClock.now() + waitMs;
    for (;;) {
      const isLast = systemClock.now() >= until;
      const list = await account.client.list().catch(() => undefined);
      const found = list && candidates(this.#identity, registration, list, () => true);
      if (found?.length === 1) return found[0];
      const isClear = list?.complete === true && found?.length === 0;
      if (isLast && isClear) return undefined;
      if (isLast)
        throw new CliError(
          "REGISTRATION_LOST",
          `cannot tell whether the endpoint for ${describeUrl(url)} was registered. If it was, \`npx webhook-endpoints list\` shows it, and \`prune\` deletes it. ${error.reason}`,
          { cause: error },
        );
      await sleep(PAUSE_MS, { clock: systemClock, signal: undefined });
    }
  }
}

/** Describes a registration for `candidates`. */
function unanswered(
  before: EndpointList,
  { same, listedAt, startedAt }: { same: readonly string[]; listedAt: number; startedAt: number },
): UnansweredRegistration {
  const { serverTime, complete, unrecognized } = before;
  // By how much the service's clock is ahead, at least: its time has whole seconds.
  const attemptedAt = serverTime === null ? null : startedAt + (serverTime - listedAt);
  return { before: [...same, ...unrecognized.map(({ id }) => id)], attemptedAt, complete };
}
