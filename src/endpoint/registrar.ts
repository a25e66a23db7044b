import { randomUUID } from "node:crypto";
import type { Endpoint, EndpointList, WebhooksClient } from "../client";
import { WebhookError, WebhookRegistrationError } from "../client";
import { type Clock, sleep, systemClock } from "../client/clock";
import { EndpointError, isNotFound, PendingError } from "./errors";
import { alike, describeAlike, type Identity, keyOf } from "./likeness";
import type { Origin } from "./origin";
import { assertWhole, isMadeInTime, patienceLeft, recognise } from "./recognition";
import type { EndpointInputs, EndpointState, PendingRegistration } from "./types";
import { describeUrl, sameUrl } from "./url";

/** How long to look for a registration that was answered, but not with an endpoint, in milliseconds. */
const lookAfterAnswerMs = 5_000;
/** How old a pending registration must be at least before it counts as never made, in milliseconds. */
const leastPatienceMs = 20_000;

const provisionalPrefix = "pending:";

/** Whether an id is the provisional one of a registration whose outcome is unknown. */
export function isProvisional(id: string): boolean {
  return id.startsWith(provisionalPrefix);
}

/** A registration that a run before left pending, by its provisional id. */
interface Earlier {
  readonly id: string;
  readonly pending: PendingRegistration;
}

export interface RegistrarOptions {
  readonly client: Pick<WebhooksClient, "register" | "list" | "get" | "delete">;
  /** Recorded with what is pending. */
  readonly origin: Origin;
  /** How long a registration may take, looking for its outcome included, in milliseconds. */
  readonly timeoutMs: number;
  /** Endpoints that resources of this program have and keep. */
  readonly live: ReadonlySet<string>;
  readonly info: (message: string) => void;
  /** Says a thing once, however often it is told. */
  readonly warn: (message: string) => void;
  readonly clock?: Clock;
}

/**
 * Registers each endpoint exactly once at a service that accepts duplicates and knows no idempotency key.
 *
 * Before the first registration of the process it lists what is there: the baseline. When a registration was sent and
 * its answer lost, an endpoint of that url and type which is neither in the baseline nor anybody's is the one that it
 * made. Is there none, the registration stays pending: recorded under a provisional id, never sent again blindly, and
 * settled by a later run. The guarantee is per process.
 */
export class Registrar {
  readonly #client;
  readonly #options;
  readonly #clock;
  #baseline: Promise<EndpointList> | undefined;
  /** The service's clock less ours, in milliseconds; null as long as the service has told no time. */
  #skew: number | null = null;
  /** Endpoints that belong to a resource, as far as this process knows: never taken for a lost registration. */
  readonly #taken = new Set<string>();
  /** Those that this process made or took over, by url and type. */
  readonly #ours = new Map<string, string[]>();
  /** Provisional ids whose outcome this process has found out. */
  readonly #settled = new Set<string>();
  /** What `settle` found. */
  readonly #recovered = new Set<string>();
  /** Registrations of this process that stayed pending, by url and type. */
  readonly #undecided = new Set<string>();
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#clock = options.clock ?? systemClock;
  }

  /** Notes that an endpoint belongs to a resource. */
  take(id: string): void {
    this.#taken.add(id);
  }

  /**
   * Names the endpoints that are there already with this url and type, but for those that this run is about to replace:
   * as a warning, or as an error with `ifExists: "fail"`. They are never adopted by likeness (engine rule 17). Whether one
   * of them is this program's own cannot be told as long as its resource has not come by, so the words fit both.
   */
  async lookForAlike(inputs: EndpointInputs): Promise<void> {
    const { live } = this.#options;
    const ids = this.#alikeSoFar(await this.#list(), inputs).filter(
      (id) => live.has(id) || !this.#taken.has(id),
    );
    if (ids.length === 0) return;
    const { warning, refusal } = describeAlike(inputs, ids, { own: ids.some((id) => live.has(id)) });
    if (inputs.ifExists === "fail") throw new EndpointError("ENDPOINT_EXISTS", refusal);
    this.#options.warn(warning);
  }

  /**
   * Registers an endpoint, or finds the one that an earlier registration of the same resource left.
   *
   * @throws PendingError when it was sent and nobody can say whether it was made.
   */
  register(inputs: EndpointInputs, earlier?: Earlier): Promise<Endpoint> {
    return this.#oneByOne(inputs, async () => {
      if (earlier) {
        const found = await this.#settle(earlier.id, inputs, earlier.pending).catch((error: unknown) => {
          this.#undecided.add(keyOf(inputs)); // so that no equal one is taken for it later
          throw error;
        });
        if (found) return this.#took(found);
      }
      if (this.#undecided.has(keyOf(inputs))) {
        throw new EndpointError(
          "REGISTRATION_WAITS",
          `registering ${describeUrl(inputs.url)} waits for an equal registration whose outcome is unknown; nothing was ` +
            "sent. Run the same command again.",
        );
      }
      const baseline = await this.#list();
      if (!earlier) await this.lookForAlike(inputs);
      return this.#took(await this.#send(inputs, baseline));
    });
  }

  /**
   * Takes over the endpoint that the user named. Nothing is changed at the service.
   *
   * @param earlier a registration left pending, which that settles unless the endpoint was there before it
   */
  adopt(id: string, inputs: EndpointInputs, earlier?: Earlier): Promise<Endpoint> {
    const assertFree = () => {
      if (this.#taken.has(id)) {
        throw new EndpointError(
          "ADOPT_TAKEN",
          `cannot adopt endpoint ${id}: another resource of this program has it already. Name it in one of them only.`,
        );
      }
    };
    return this.#oneByOne(inputs, async () => {
      assertFree();
      const endpoint = await this.#client.get(id).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        throw new EndpointError(
          "ADOPT_NOT_FOUND",
          `cannot adopt endpoint ${id}: the service has none of this id. Correct adoptId, or remove it to register a new one.`,
          { cause: error },
        );
      });
      const differing = [
        ...(sameUrl(endpoint.url, inputs.url) ? [] : ["url"]),
        ...(endpoint.type === inputs.type ? [] : ["type"]),
      ];
      if (differing.length > 0) {
        throw new EndpointError(
          "ADOPT_MISMATCH",
          `cannot adopt endpoint ${id}: its ${differing.join(" and ")} at the service ${differing.length === 1 ? "is" : "are"} ` +
            "not the declared one. Declare the endpoint as it is, adopt it, and change it afterwards.",
        );
      }
      assertFree(); // The resource that has it may have come by meanwhile.
      if (earlier && !earlier.pending.before.includes(id)) this.#settled.add(earlier.id);
      return this.#took(endpoint);
    });
  }

  /** Whether an endpoint was found to be what a pending registration made. */
  hasRecovered(id: string): boolean {
    return this.#recovered.has(id);
  }

  /** What became of a registration that a run before left pending: its endpoint, or undefined when it never happened. */
  settle(id: string, state: EndpointState & { pending: PendingRegistration }): Promise<Endpoint | undefined> {
    return this.#oneByOne(state, async () => {
      const found = await this.#settle(id, state, state.pending);
      if (found) this.#recovered.add(found.id);
      return found && this.#took(found);
    });
  }

  /**
   * Deletes what a registration left pending made, unless a resource of this process has it by now: false when there is
   * nothing of it. What was made so late that it may be registered in its stead, by another process even, is spared.
   */
  discard(id: string, state: EndpointState & { pending: PendingRegistration }): Promise<boolean> {
    return this.#oneByOne(state, async () => {
      if (this.#settled.has(id)) return true;
      const found = await this.#settle(id, state, state.pending);
      if (!found || !isMadeInTime(found, state.pending, this.#patienceMs)) return false;
      this.#took(found);
      await this.#client.delete(found.id);
      return true;
    });
  }

  /** Looks for what a pending registration made, until it is old enough to count as never made: it may be made late. */
  async #settle(id: string, identity: Identity, pending: PendingRegistration): Promise<Endpoint | undefined> {
    const list = await this.#client.list();
    const found =
      recognise(list, identity, pending, this.#taken) ?? (await this.#lookLater(list, identity, pending));
    this.#settled.add(id);
    return found;
  }

  async #lookLater(
    list: EndpointList,
    identity: Identity,
    pending: PendingRegistration,
  ): Promise<Endpoint | undefined> {
    assertWhole(list, identity);
    const patienceMs = patienceLeft(pending, list, this.#patienceMs);
    if (patienceMs <= 0) return undefined;
    this.#options.info(
      `looks for ${Math.ceil(patienceMs / 1000)} s more whether the registration of ${describeUrl(identity.url)} is made late`,
    );
    const found = await this.#lookUntil(this.#clock.date() + patienceMs, identity, pending);
    if (found) return found;
    // That it is not there takes a list that was answered, and whole.
    const last = await this.#client.list();
    assertWhole(last, identity);
    return recognise(last, identity, pending, this.#taken);
  }

  get #patienceMs(): number {
    return Math.max(2 * this.#options.timeoutMs, leastPatienceMs);
  }

  async #send(inputs: EndpointInputs, baseline: EndpointList): Promise<Endpoint> {
    const startedAt = this.#clock.date();
    const pending: PendingRegistration = {
      before: this.#alikeSoFar(baseline, inputs),
      attemptedAt: this.#skew === null ? null : Math.round(startedAt + this.#skew),
      complete: baseline.complete,
    };
    try {
      return await this.#client.register({
        url: inputs.url,
        type: inputs.type,
        ...(inputs.ip === undefined ? {} : { ip: inputs.ip }),
      });
    } catch (error) {
      if (!(error instanceof WebhookRegistrationError) || error.outcome === "not-made") throw error;
      const lookUntil =
        error.statusCode === undefined
          ? Math.max(startedAt + this.#options.timeoutMs, this.#clock.date() + lookAfterAnswerMs)
          : this.#clock.date() + lookAfterAnswerMs;
      const found = await this.#lookUntil(lookUntil, inputs, pending);
      if (found) return found;
      throw this.#leavePending(inputs, pending, error);
    }
  }

  /** Lists again and again until the lost registration shows, or the time is out: it may be made late. */
  async #lookUntil(
    end: number,
    identity: Identity,
    pending: PendingRegistration,
  ): Promise<Endpoint | undefined> {
    for (let pause = 250; ; pause = Math.min(pause * 2, 2_000)) {
      try {
        const found = recognise(await this.#client.list(), identity, pending, this.#taken);
        if (found) return found;
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
      }
      const left = end - this.#clock.date();
      if (left <= 0) return undefined;
      await sleep(Math.min(pause, left), { clock: this.#clock, signal: undefined });
    }
  }

  #leavePending(
    inputs: EndpointInputs,
    pending: PendingRegistration,
    cause: WebhookRegistrationError,
  ): PendingError {
    this.#undecided.add(keyOf(inputs));
    return new PendingError({
      id: `${provisionalPrefix}${randomUUID()}`,
      state: {
        url: inputs.url,
        type: inputs.type,
        ip: inputs.ip ?? null,
        createdAt: null,
        updatedAt: null,
        ...this.#options.origin,
        pending,
      },
      message: `the registration of ${describeUrl(inputs.url)} was sent, and whether it was made is unknown`,
      cause,
    });
  }

  /** The ids with this url and type in the baseline or made by this process, which takes equal ones one by one. */
  #alikeSoFar(baseline: EndpointList, identity: Identity): string[] {
    const before = alike(baseline, identity).map(({ id }) => id);
    return [...new Set([...before, ...(this.#ours.get(keyOf(identity)) ?? [])])];
  }

  #took(endpoint: Endpoint): Endpoint {
    this.#taken.add(endpoint.id);
    const key = keyOf(endpoint);
    this.#ours.set(key, [...(this.#ours.get(key) ?? []), endpoint.id]);
    return endpoint;
  }

  /** The baseline. One that could not be had is asked for again. */
  #list(): Promise<EndpointList> {
    this.#baseline ??= this.#client.list().then(
      (list) => {
        if (list.serverTime !== null) this.#skew = list.serverTime - this.#clock.date();
        return list;
      },
      (error: unknown) => {
        this.#baseline = undefined;
        throw error;
      },
    );
    return this.#baseline;
  }

  /** Equal registrations go one after the other, so that what one of them made is never taken for another's. */
  #oneByOne<T>(identity: Identity, work: () => Promise<T>): Promise<T> {
    const key = keyOf(identity);
    const turn = (this.#queues.get(key) ?? Promise.resolve()).then(work, work);
    this.#queues.set(
      key,
      turn.catch(() => {}),
    );
    return turn;
  }
}
