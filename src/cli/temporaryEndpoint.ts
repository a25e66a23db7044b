import { type Endpoint, type EndpointList, type Registration, WebhookError } from "../client";
import { type Clock, systemClock } from "../client/clock";
import { undefinedIfGone } from "../client/errors";
import { Book } from "../settlement/book";
import { decide } from "../settlement/decide";
import { ipHash, NO_STACK, type Sent } from "../settlement/entry";
import { madePulumiHome } from "../settlement/files";
import { alike, sameId } from "../settlement/identity";
import { LAG_MS, whileNew } from "../settlement/lag";
import { pendingOfSent } from "../settlement/pendingResource";
import { registerOnce } from "../settlement/register";
import { settle } from "../settlement/settle";
import { originHashes } from "../settlement/trace";
import { Turns } from "../settlement/turns";
import { describeUrl, sameUrl } from "../shared/url";
import { AccountService } from "./accountService";
import { CliError } from "./errors";
import { NO_RUN } from "./evidence";
import type { Account } from "./service";

interface TemporaryEndpointOptions {
  readonly account: Account;
  readonly url: string;
  /** As for `registerOnce`. */
  readonly isCareful?: boolean;
  /** Ends a registration that only waits, because the service limits requests. A deletion may wait. */
  readonly cancelled?: AbortSignal;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Prints what is going on. */
  readonly note: (text: string) => void;
}

/** A development endpoint that exists while a command runs. */
export class TemporaryEndpoint {
  #id: string | undefined;
  /** When the service answered with it, on the clock that never goes back. */
  #madeAt = 0;
  /** True while an endpoint may exist that this process has to delete. */
  #mayExist = false;
  #wasThere: boolean | undefined = false;
  #urlBefore: string | undefined;
  #sent: Sent | null = null;
  readonly #clock: Clock;

  constructor(private readonly options: TemporaryEndpointOptions) {
    this.#clock = options.clock ?? systemClock;
  }

  /** True once something may have come of the registration. */
  get isSent(): boolean {
    return this.#mayExist || this.#id !== undefined;
  }

  /** What a process leaves behind that ends now. Undefined if that is nothing. */
  get leftover(): string | undefined {
    if (!this.#mayExist) return undefined;
    const what = this.#id === undefined ? "an endpoint" : `the endpoint ${this.#id}`;
    const { url, account } = this.options;
    return `${what} for ${describeUrl(url)} may still be registered. ${whatShowsIt(account)}`;
  }

  /**
   * True if the endpoint was there before: some services keep one for each url or account. Undefined if nothing tells. Only if this is false
   * is it deleted.
   */
  get wasThere(): boolean | undefined {
    return this.#wasThere;
  }

  /** The url that the endpoint had before, if the registration has changed it: some services keep one endpoint for each account. */
  get urlBefore(): string | undefined {
    return this.#urlBefore;
  }

  /**
   * Registers the endpoint and returns its id. If the answer is lost, looks for the endpoint in the service's list. No run on this
   * machine registers the same url and type meanwhile.
   *
   * @throws WebhookError when nothing was registered
   * @throws CliError `REGISTRATION_LOST` when nothing shows whether it was
   */
  async register(): Promise<string> {
    await this.#inTurn(async (registration) => {
      const endpoint = await this.#register(registration);
      this.#id = endpoint.id;
      this.#madeAt = this.#clock.now();
      if (this.#mayExist) this.#claim(endpoint, registration);
    });
    return this.#id ?? "";
  }

  /** Deletes the endpoint, if there is one, and no run of this machine has adopted it. @throws CliError `ENDPOINT_LEFT` */
  async remove(): Promise<void> {
    const id = this.#id;
    if (id === undefined || !this.#mayExist) return;
    await this.#inTurn(async (registration) => {
      const { note } = this.options;
      const entries = new Book(process.env, note).entriesLike(registration);
      // A later run closes the entry of an adoption.
      if (!entries.some((each) => (each.adopted || !each.closed) && each.id === id)) return this.#delete(id);
      note(`${id} stays: a stack has adopted it.`);
      this.#mayExist = false;
    });
  }

  /** Does something while no run on this machine registers or adopts the same url and type. */
  async #inTurn(work: (registration: Registration) => Promise<void>): Promise<void> {
    const { note, url } = this.options;
    const onWait = () => note(`Waiting for another process that is registering ${describeUrl(url)}.`);
    const turns = new Turns(madePulumiHome(process.env), {
      clock: this.#clock,
      cancelled: undefined,
      onWait,
    });
    const registration = { url, type: "development" } as const;
    // A turn without a signal is never cancelled.
    await turns.take(registration, () => work(registration));
  }

  /** Writes down whose the endpoint is: a run of this machine would take it for what a killed run registered. */
  #claim({ id, createdAt }: Endpoint, registration: Registration): void {
    const { account, note } = this.options;
    const nobody = { stack: NO_STACK, run: NO_RUN, sender: NO_RUN, ip: ipHash(undefined), closed: true };
    const fields = { ...originHashes(account.origin), ...nobody, id, createdAt, sent: this.#sent };
    new Book(process.env, note).begin(fields, registration);
  }

  async #delete(id: string): Promise<void> {
    try {
      const attempt = () => this.options.account.client.delete(id).then(() => true, undefinedIfGone);
      const forMs = this.#madeAt + LAG_MS - this.#clock.now();
      await whileNew(attempt, (isDeleted) => isDeleted === true, { clock: this.#clock, forMs });
    } catch (error) {
      const { account, url } = this.options;
      const reason = error instanceof WebhookError ? ` ${error.reason}` : "";
      throw new CliError(
        "ENDPOINT_LEFT",
        `the endpoint ${id} for ${describeUrl(url)} could not be deleted.${reason} ${whatShowsIt(account)}`,
        { cause: error },
      );
    }
    this.#mayExist = false;
  }

  async #register(registration: Registration): Promise<Endpoint> {
    const { account, note, url, isCareful, cancelled } = this.options;
    const { client, timeoutMs, patienceMs } = account;
    const clock = this.#clock;
    const service = new AccountService(client, clock, cancelled);
    const baseline = await service.list();
    const same = alike(baseline, registration).map(({ id }) => id);
    const waiting = { clock, cancelled: undefined };
    try {
      const registered = await registerOnce(registration, {
        ...{ service, baseline, timeoutMs, patienceMs, ...waiting, isCareful },
        onSend: (sent) => {
          this.#sent = sent;
          this.#mayExist = true;
        },
        onLost: () =>
          note("The registration was not answered with an endpoint. Looking for it in the service's list."),
      });
      if (registered.kind === "made") {
        const { endpoint } = registered;
        this.#wasThere = registered.wasThere;
        this.#urlBefore = urlIn(baseline, endpoint.id, url);
        if (this.#wasThere !== false) this.#mayExist = false;
        else if (same.length > 0)
          note(`The service already has ${same.join(", ")} with this url, so each event arrives once more.`);
        return endpoint;
      }

      const { sent, error } = registered;
      const pending = [{ ...pendingOfSent(sent, patienceMs), own: true }];
      const outcome = await settle(
        service.list,
        (list) => decide({ identity: registration, pending, list, holderOf: () => "nobody", patienceMs }),
        // After an answer it has been looked for long enough.
        error.statusCode === undefined ? waiting : { ...waiting, forMs: 0 },
      ).catch(() => undefined);
      if (outcome?.kind === "found") {
        const { id } = outcome.endpoint;
        // It may be what had the id before, with another url: some services keep one endpoint for each account.
        if ([...baseline.endpoints, ...baseline.unrecognized].some((each) => sameId(each.id, id))) {
          this.#urlBefore = urlIn(baseline, id, url);
          this.#wasThere = undefined;
          this.#mayExist = false;
        }
        return outcome.endpoint;
      }
      if (outcome?.kind === "absent") throw error;
      throw new CliError(
        "REGISTRATION_LOST",
        `cannot tell whether the endpoint for ${describeUrl(url)} was registered. If it was, ${whatShowsIt(account)}. ${error.reason}`,
        { cause: error },
      );
    } catch (error) {
      if (!(error instanceof CliError)) this.#mayExist = false;
      throw error;
    }
  }
}

/** Returns the url of a listed endpoint, unless it is this one. */
function urlIn({ endpoints }: EndpointList, id: string, url: string): string | undefined {
  const listed = endpoints.find((each) => sameId(each.id, id))?.url;
  return listed === undefined || sameUrl(listed, url) ? undefined : listed;
}

function whatShowsIt({ withStack }: Account): string {
  return `\`${withStack("npx webhook-endpoints list")}\` shows it, and \`${withStack("prune")}\` deletes it`;
}
