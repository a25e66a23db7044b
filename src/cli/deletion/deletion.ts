import { setTimeout as sleep } from "node:timers/promises";
import { type Endpoint, WebhookError } from "../../client";
import { systemClock } from "../../client/clock";
import { undefinedIfGone } from "../../client/errors";
import { Book } from "../../settlement/book";
import { pulumiHome } from "../../settlement/files";
import { keyHash, keyOf } from "../../settlement/identity";
import { Locks } from "../../settlement/lock";
import { countOf } from "../../shared/words";
import { CliError } from "../errors";
import { type Inventory, type InventoryOptions, type Listed, takeInventory } from "../inventory/inventory";
import { explainOwner } from "../inventory/ownership";
import { interrupted } from "../oldRun";
import type { Account } from "../service";

/** How many endpoints are deleted at once. */
const MAX_DELETIONS = 8;
/** How long what was read about owners is relied on at least, in milliseconds. It is relied on as long as it took to read. */
const LEAST_FRESH_MS = 1_000;
/** How long deletions under way may take after Ctrl-C, in milliseconds. */
const GRACE_MS = 600;
/** A file system's clock may be behind this process's by as much, in milliseconds. */
const FILE_TIME_TOLERANCE_MS = 20;

export interface DeletionRule {
  /** True if, by a new inventory, an endpoint may be deleted. */
  readonly mayDelete: (entry: Listed) => boolean;
  /** @throws CliError if an inventory does not show enough to delete anything */
  readonly check: (inventory: Inventory) => void;
}

/** Deletes endpoints that nothing has even now: a run may take one over while a person decides, or while others are deleted. */
export class Deletion {
  readonly deleted = new Set<Listed>();
  /** The deletions that were sent and not answered yet. */
  readonly #underWay = new Map<Listed, Promise<void>>();
  readonly #interruption = new AbortController();
  readonly #locks: Locks;
  readonly #book: Book;
  /** Of the first endpoint that could not be deleted. */
  #failure: WebhookError | undefined;
  #isStopped = false;

  constructor(
    private readonly account: Account,
    private readonly options: InventoryOptions,
    private readonly rule: DeletionRule,
  ) {
    const { environment = process.env } = options;
    this.#locks = new Locks(pulumiHome(environment));
    this.#book = new Book(environment, (problem) => {
      throw new CliError("OWNERSHIP_UNKNOWN", problem);
    });
  }

  /**
   * @throws WebhookError of the first endpoint that could not be deleted; what concerns one endpoint only does not stop the others
   * @throws CliError `INTERRUPTED` after `interrupt`
   */
  async run(candidates: readonly Listed[]): Promise<void> {
    const work = async () => {
      for (let left = candidates; left.length > 0; ) left = await this.#runBatch(left);
    };
    const { signal } = this.#interruption;
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    await this.options.output.during(
      () => `Deleting: ${this.deleted.size} of ${countOf(candidates.length, "endpoint")} deleted.`,
      Promise.race([work(), stopped]),
    );
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Returns whether the deletion of an endpoint was sent, and nothing tells whether it was done. */
  isUnknown(entry: Listed): boolean {
    return this.#underWay.has(entry);
  }

  /** Sends no more deletions, gives those under way a moment, names those that have not ended by then, and ends `run`. */
  async interrupt(): Promise<void> {
    this.#isStopped = true;
    const grace = new AbortController();
    await Promise.race([
      Promise.allSettled(this.#underWay.values()),
      sleep(GRACE_MS, undefined, { signal: grace.signal }).catch(() => undefined),
    ]);
    grace.abort();
    for (const { endpoint } of this.#underWay.keys())
      this.options.output.warn(`${endpoint.id}: it is unknown whether it was deleted`);
    this.#interruption.abort(interrupted());
  }

  /** Reads owners once, deletes as long as that can be relied on, and returns what is left. */
  async #runBatch(candidates: readonly Listed[]): Promise<readonly Listed[]> {
    const readAt = Date.now();
    const startedAt = performance.now();
    const inventory = await takeInventory(this.account, this.options);
    this.rule.check(inventory);
    const now = performance.now();
    const freshUntil = now + Math.max(LEAST_FRESH_MS, now - startedAt);
    const isFresh = () => !this.#isStopped && performance.now() < freshUntil;
    const present = new Map(inventory.entries.map((each) => [each.endpoint.id, each]));
    const groups = new Map<string, Listed[]>();
    for (const entry of candidates) {
      const { endpoint } = entry;
      const current = present.get(endpoint.id);
      const isDeletable = current !== undefined && this.rule.mayDelete(current);
      if (!isDeletable || !isSame(current.endpoint, endpoint)) {
        const owner = current && !isDeletable ? explainOwner(current.owner) : undefined;
        this.#keep(entry, owner ?? "it has changed since it was shown");
        continue;
      }
      const alike = groups.get(keyOf(endpoint));
      if (alike) alike.push(entry);
      else groups.set(keyOf(endpoint), [entry]);
    }
    const waiting = [...groups.values()];
    const deleteNext = async () => {
      for (let group = isFresh() && waiting.shift(); group; group = isFresh() && waiting.shift()) {
        await this.#deleteAlike(group, readAt, isFresh);
        if (group.length > 0) waiting.push(group);
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: MAX_DELETIONS }, deleteNext));
    for (const result of ended) if (result.status === "rejected") throw result.reason;
    return waiting.flat();
  }

  /**
   * Deletes endpoints with one url and type in its turn, and takes them from the list: no run on this machine registers or adopts it
   * meanwhile.
   */
  async #deleteAlike(group: Listed[], readAt: number, isFresh: () => boolean): Promise<void> {
    const [{ endpoint } = { endpoint: undefined }] = group;
    if (endpoint === undefined) return;
    const busy = new AbortController();
    const lock = { clock: systemClock, signal: busy.signal, onWait: () => busy.abort() };
    // Without PULUMI_HOME, no run uses it either.
    const release = await this.#locks.take(keyHash(endpoint), lock).catch(() => undefined);
    try {
      const isBusy = release === "aborted" || this.#book.isInUse(endpoint, readAt - FILE_TIME_TOLERANCE_MS);
      for (let entry = isFresh() && group.shift(); entry; entry = isFresh() && group.shift()) {
        if (isBusy) this.#keep(entry, "this machine is registering, adopting or using its url");
        else await this.#send(entry);
      }
    } finally {
      if (release !== "aborted") release?.();
    }
  }

  async #send(entry: Listed): Promise<void> {
    const deleting = this.#delete(entry);
    this.#underWay.set(entry, deleting);
    await deleting.finally(() => this.#underWay.delete(entry));
  }

  async #delete(entry: Listed): Promise<void> {
    const { output } = this.options;
    const { id } = entry.endpoint;
    try {
      if (!(await this.#isGone(id))) {
        this.#keep(entry, "the service answers its deletion with 404, and has it still");
        return;
      }
    } catch (error) {
      output.warn(`${id} was not deleted`);
      this.#isStopped ||= !isOfOneEndpoint(error);
      if (!(error instanceof WebhookError)) throw error;
      this.#failure ??= error;
      if (this.#isStopped) throw error;
      return;
    }
    this.deleted.add(entry);
    output.note(`Deleted ${id}`);
  }

  /** Deletes an endpoint. Returns false if the service says that it has none of this id, and shows it. */
  async #isGone(id: string): Promise<boolean> {
    const { client } = this.account;
    let isSaidGone = false;
    await client.delete(id).catch((error: unknown) => {
      undefinedIfGone(error);
      isSaidGone = true;
    });
    return !isSaidGone || (await client.get(id).catch(undefinedIfGone)) === undefined;
  }

  #keep({ endpoint: { id } }: Listed, why: string): void {
    this.options.output.warn(`${id} is kept: ${why}`);
  }
}

/** Returns whether deleting another endpoint may succeed nevertheless. */
function isOfOneEndpoint(error: unknown): boolean {
  const codes = ["INVALID_ARGUMENT", "REJECTED", "SERVER_ERROR"];
  return error instanceof WebhookError && codes.includes(error.code);
}

function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.id === b.id && a.url === b.url && a.type === b.type && a.createdAt === b.createdAt;
}
