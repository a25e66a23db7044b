import type { Endpoint } from "../../client";
import { type Clock, sleep } from "../../client/clock";
import { isReadable, type Row } from "../../client/endpoint";
import { CLEAR_OPERATIONS } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { PENDING_PREFIX } from "../../shared/permanent";
import type { EngineLog } from "../engine";
import { EndpointError, isUnauthorized } from "../errors";
import { type Denial, isDenial, type Listing, type Service } from "../service";
import { LAG_MS, PRECISION_MS, parseTimestamp, type RecordedTimes, WORTH_A_LINE_MS } from "./time";

/** How many ids prove a list stale at most: one `get` each. */
const MOST_PROBES = 3;
const PAUSE_MS = 1_000;

interface ExistenceOptions {
  readonly service: Service;
  readonly clock: Clock;
  readonly log: Pick<EngineLog, "info">;
  readonly cancelled: AbortSignal | undefined;
  /** Called with an id that is gone. */
  readonly onGone?: (id: string) => void;
  /** Called with an id that a get denies, which alone does not show that it is gone. */
  readonly onDenied?: (id: string) => void;
}

/**
 * Answers: is it gone? One answer could be a proxy's or a replica's. So an endpoint is gone only once the service has denied it, by 404 or
 * 410, and a list that was sent after that, or two of the last ten seconds, lack it. What may have been made just now is asked for once more
 * when get and list can no longer lag behind it. Instead of a list that says that it is partial, a second denial counts, as long after.
 */
export class Existence {
  /** What an earlier run made is older than this one. */
  readonly #startedAt: number;
  #settling: Promise<void> | undefined;
  /** By list, which of the ids that it lacks were asked for, and whether there is such an endpoint. */
  readonly #probes = new WeakMap<Listing, Map<string, Promise<boolean>>>();

  constructor(private readonly options: ExistenceOptions) {
    this.#startedAt = options.clock.now();
  }

  /** Reads a recorded endpoint, or returns undefined when it is gone. Reads share a list, and only what that lacks is asked for alone. */
  async find(id: string, recorded: RecordedTimes): Promise<Endpoint | undefined> {
    const found = await this.look(id);
    if (!isDenial(found)) return found;
    const row = await this.#afterDenial(id, recorded, found);
    if (row === undefined || isReadable(row)) return row;
    throw stillListed("read", id, found);
  }

  /** Reads an endpoint by its id alone. Of a denial, nothing may be concluded but an error. */
  async look(id: string): Promise<Endpoint | Denial> {
    const list = await this.#unlessRefused(this.options.service.list());
    const row = list?.rowsById.get(id);
    return row !== undefined && isReadable(row) ? row : this.options.service.get(id);
  }

  /**
   * Returns the row of an endpoint that is to be deleted, or undefined when it is gone. Any list of this run will do: so a `destroy` asks for
   * one.
   */
  async row(id: string, recorded: RecordedTimes): Promise<Row | undefined> {
    const list = await this.#unlessRefused(this.options.service.anyList());
    const row = list?.rowsById.get(id) ?? (await this.options.service.get(id));
    return isDenial(row) ? this.#afterDenial(id, recorded, row) : row;
  }

  /** Deletes an endpoint. Returns whether the service did it; false if the endpoint was gone. @throws EndpointError `STILL_LISTED` */
  async remove(id: string, recorded: RecordedTimes): Promise<boolean> {
    const { service } = this.options;
    const first = await service.delete(id);
    if (first === undefined) return true;
    if ((await this.#afterDenial(id, recorded, first)) === undefined) return false;
    // It is there, so the denial came from somebody else.
    const second = await service.delete(id);
    if (second === undefined) return true;
    if (await this.#shownAfterLag(id, recorded, second)) throw stillListed("delete", id, second);
    return false;
  }

  /**
   * Asks for an endpoint that a list shows, before a resource adopts it or takes it over: a list may show what is being deleted. Returns false
   * if it is gone. @throws EndpointError `STILL_LISTED`
   */
  async confirm({ id, createdAt }: Endpoint, verb: "adopt" | "take over"): Promise<boolean> {
    const { service } = this.options;
    const first = await service.get(id);
    if (!isDenial(first)) return true;
    if (!(await this.#shownAfterLag(id, { createdAt }, first))) return false;
    const second = await service.get(id);
    if (!isDenial(second)) return true;
    throw stillListed(verb, id, second);
  }

  /**
   * Returns whether a list is stale: whether it lacks an endpoint that a get finds. Nothing else proves that, and nothing is asked for unless
   * the list lacks one.
   *
   * @param ids of endpoints that should exist
   */
  async isStale(list: Listing, ids: Iterable<string>): Promise<boolean> {
    const probes = this.#probes.get(list) ?? new Map<string, Promise<boolean>>();
    this.#probes.set(list, probes);
    for (const id of ids) {
      if (probes.size >= MOST_PROBES || list.rowsById.has(id) || probes.has(id)) continue;
      const probe = this.#exists(id);
      // Another resource that needs the list asks again.
      probe.catch(() => probes.delete(id));
      probes.set(id, probe);
    }
    return (await Promise.all(probes.values())).includes(true);
  }

  /** Returns whether a list may still lack an endpoint because it was made just now. */
  mayLag(made: RecordedTimes): boolean {
    return this.#lagLeft(made) > 0;
  }

  async #exists(id: string): Promise<boolean> {
    const isDenied = isDenial(await this.options.service.get(id));
    if (isDenied) this.options.onDenied?.(id);
    return !isDenied;
  }

  /** Returns undefined for a list that failed. A key that is refused for the list is refused for each get too: one request shows that. */
  #unlessRefused(list: Promise<Listing>): Promise<Listing | undefined> {
    return list.catch((error: unknown) => {
      if (isUnauthorized(error)) throw error;
      return undefined;
    });
  }

  /** Returns what there is in spite of a denial, or undefined if it is gone. */
  async #afterDenial(id: string, recorded: RecordedTimes, denial: Denial): Promise<Row | undefined> {
    const { clock, cancelled, service } = this.options;
    const list = await this.#listAfter(denial, id);
    const row = list.rowsById.get(id);
    if (row !== undefined) return row;
    const leftMs = () => {
      const afterDenial = denial.deniedAt + LAG_MS - clock.now();
      return list.complete ? Math.min(this.#lagLeft(recorded), afterDenial) : afterDenial;
    };
    if (leftMs() > 0) {
      while (leftMs() > 0 && !cancelled?.aborted) await this.#settle(leftMs());
      const again = await service.get(id);
      if (!isDenial(again)) return again;
      const late = list.complete ? (await this.#listAfter(again)).rowsById.get(id) : undefined;
      if (late !== undefined) return late;
    }
    this.options.onGone?.(id);
    return undefined;
  }

  /** Returns whether there still is an endpoint that was denied, once the list can no longer lag behind its deletion. */
  async #shownAfterLag(id: string, recorded: RecordedTimes, denial: Denial): Promise<boolean> {
    const { clock, cancelled, service } = this.options;
    for (;;) {
      if ((await this.#afterDenial(id, recorded, denial)) === undefined) return false;
      const leftMs = denial.deniedAt + LAG_MS - clock.now();
      if (leftMs <= 0 || cancelled?.aborted) return true;
      await sleep(Math.min(PAUSE_MS, leftMs), { clock, signal: cancelled });
      await service.listNow();
    }
  }

  /** Returns a list that was sent after a denial. The newer one of two recent ones that lack an id is as good. */
  async #listAfter({ deniedAt }: Denial, id?: string): Promise<Listing> {
    const { service } = this.options;
    for (;;) {
      const [newer, older] = service.recentLists;
      const lacksIt = (list: Listing | undefined) =>
        id !== undefined && list?.complete && !list.rowsById.has(id);
      if (newer && (newer.sentAt >= deniedAt || (lacksIt(newer) && lacksIt(older)))) return newer;
      await service.nextList();
    }
  }

  /** Returns how long get and list may still lag behind a creation, in milliseconds. Nobody knows when: an earlier run made it. */
  #lagLeft({ createdAt = null, registeredAt }: RecordedTimes): number {
    const { clock, service } = this.options;
    const [made, now] = [parseTimestamp(createdAt) ?? registeredAt, service.time()];
    if (made === undefined || now === null) return this.#startedAt + LAG_MS - clock.now();
    return made + LAG_MS + PRECISION_MS - now;
  }

  /** Waits. What starts to wait meanwhile waits for the same end. */
  #settle(milliseconds: number): Promise<void> {
    const { clock, cancelled, log } = this.options;
    if (this.#settling === undefined) {
      if (milliseconds >= WORTH_A_LINE_MS)
        log.info(
          `waiting up to ${LAG_MS / 1000} s before what is missing counts as deleted: a service may show late what it has just made`,
        );
      this.#settling = sleep(milliseconds, { clock, signal: cancelled }).finally(() => {
        this.#settling = undefined;
      });
    }
    return this.#settling;
  }
}

/** How to go on without an endpoint that the service shows for ever. */
const WITHOUT_IT = {
  read: "run `pulumi state delete` for the resource",
  delete: "run `pulumi state delete` for the resource",
  adopt: 'set ifExists: "register" for one run, which registers another one',
  "take over": `forget its registration: \`pulumi state delete\` for a resource whose id begins with ${PENDING_PREFIX}, or \`${CLEAR_OPERATIONS}\` after a killed run`,
};

function stillListed(verb: keyof typeof WITHOUT_IT, id: string, { cause }: Denial): EndpointError {
  return new EndpointError(
    "STILL_LISTED",
    `cannot ${verb} endpoint ${foreign(id)}: the service answers as if it did not exist, and its list still shows it. Nothing was changed. Ways on:`,
    {
      cause,
      ways: [
        "Run the same command again: a proxy in front of the service, or one of its servers, may have answered.",
        `If the service goes on showing what it has deleted, ${WITHOUT_IT[verb]}.`,
      ],
    },
  );
}
