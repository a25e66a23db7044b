import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseJson } from "../shared/json";
import { isAtWork, thisProcess } from "../shared/processes";
import { type Entry, isWhole, type NewEntry, NO_STACK, type StackName } from "./entry";
import { hashOf, makeFile, makeFolder, namesIn, PRIVATE, pulumiHome } from "./files";
import { type Identity, keyHash } from "./identity";

/** How many entries the book holds at most. */
const MAX_ENTRIES = 20_000;
/** How long a closed entry stays at least, in milliseconds. */
const CLOSED_LIFE_MS = 24 * 60 * 60_000;
const EXTENSION = ".json";

/**
 * What this machine's runs have sent and taken: a small file for each registration, below PULUMI_HOME, written before the POST. Its
 * last whole line counts: a change appends one, as to replace a file makes some file systems write it to the disk. It outlives a
 * killed run. It holds hashes, ids, times and the stack's name, and no url, key or secret. A book that cannot be written or read
 * makes no run fail: it says so once.
 */
export class Book {
  readonly #home: string;
  readonly #folder: string;
  #count = 0;
  #hasProblem = false;

  /** @param onProblem told once that the book cannot be written or read; what it throws goes to whoever uses the book */
  constructor(
    environment: NodeJS.ProcessEnv,
    private readonly onProblem: (problem: string) => void,
  ) {
    this.#home = pulumiHome(environment);
    this.#folder = join(this.#home, "webhook-endpoints", "book");
  }

  /** Returns the entries of a url and type, of all stacks, the oldest first. */
  entriesLike(identity: Identity): Entry[] {
    const key = keyHash(identity);
    return this.#quietly(() => this.#ofKey(key)) ?? [];
  }

  /**
   * Returns whether a run is about to register or take this url and type, or has since a moment on this machine's clock, or whether a
   * command that still runs has registered them for itself.
   */
  isInUse(identity: Identity, since: number): boolean {
    return this.entriesLike(identity).some(({ name, stack, closed, process, sent }) => {
      const changedAt = this.#changedAt(name) ?? since;
      const mayBeUsed = !closed || stack.urn === NO_STACK.urn;
      return changedAt >= since || (mayBeUsed && isAtWork(process, sent?.at ?? changedAt));
    });
  }

  /** Returns the entries of a stack, the oldest first, and removes closed ones that nothing needs any more. */
  entriesOf(stack: StackName): Entry[] {
    return (
      this.#quietly(() => {
        const shards = namesIn(this.#folder);
        this.#count = shards.reduce((sum, shard) => sum + namesIn(join(this.#folder, shard)).length, 0);
        const isCrowded = this.#count > MAX_ENTRIES / 2;
        const own = `.${hashOf(stack.urn, stack.backend)}.`;
        const entries = shards.flatMap((shard) =>
          this.#read(shard, (name) => isCrowded || name.includes(own)),
        );
        this.#collect(entries);
        return entries.filter(({ name }) => name.includes(own));
      }) ?? []
    );
  }

  /** Writes a new entry of this process, of what is not sent yet unless the fields say so. */
  begin(fields: NewEntry, identity: Identity): Entry {
    const entry = { sent: null, id: null, createdAt: null, adopted: false, closed: false, ...fields };
    const key = keyHash(identity);
    const name = `${key}.${hashOf(entry.stack.urn, entry.stack.backend)}.${randomUUID()}${EXTENSION}`;
    const begun = { ...entry, name, key, process: thisProcess() };
    this.#quietly(() => {
      this.#count += 1;
      if (this.#count > MAX_ENTRIES) throw new Error(`it holds ${MAX_ENTRIES} entries`);
      makeFolder(this.#home, join(this.#folder, shardOf(key)));
      makeFile(this.#pathOf(name), begun);
    });
    return begun;
  }

  change(entry: Entry, change: Partial<Omit<Entry, "name" | "key" | "stack">>): Entry {
    const changed = { ...entry, ...change };
    // A process that was killed may have left half a line.
    this.#quietly(() =>
      appendFileSync(this.#pathOf(entry.name), `\n${JSON.stringify(changed)}`, { mode: PRIVATE }),
    );
    return changed;
  }

  close(entry: Entry): void {
    this.change(entry, { closed: true });
  }

  /** Removes an entry of which nothing came. */
  remove({ name }: Entry): void {
    this.#quietly(() => rmSync(this.#pathOf(name), { force: true }));
  }

  /** Removes an entry unless something was sent or taken since it was begun. */
  removeUnsent(begun: Entry): void {
    const [entry] = entryIn(this.#pathOf(begun.name));
    if (entry?.sent === null && entry.id === null) this.remove(entry);
  }

  #read(shard: string, wanted: (name: string) => boolean): Entry[] {
    return namesIn(join(this.#folder, shard))
      .filter((name) => name.endsWith(EXTENSION) && wanted(name))
      .flatMap((name) => entryIn(join(this.#folder, shard, name)))
      .toSorted((a, b) => (a.sent?.at ?? 0) - (b.sent?.at ?? 0));
  }

  /** A closed entry stays for a day, longer while another one of the same url and type is open, and for ever if a person decided it. */
  #collect(entries: readonly Entry[]): void {
    for (const { closed, foreign, key, name } of entries) {
      if (!closed || foreign) continue;
      const changedAt = this.#changedAt(name) ?? Number.POSITIVE_INFINITY;
      if (Date.now() - changedAt > CLOSED_LIFE_MS && this.#ofKey(key).every((each) => each.closed))
        rmSync(this.#pathOf(name), { force: true });
    }
  }

  #ofKey(key: string): Entry[] {
    return this.#read(shardOf(key), (name) => name.startsWith(`${key}.`));
  }

  #changedAt(name: string): number | undefined {
    return statSync(this.#pathOf(name), { throwIfNoEntry: false })?.mtimeMs;
  }

  #pathOf(name: string): string {
    return join(this.#folder, shardOf(name), name);
  }

  #quietly<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!this.#hasProblem) this.onProblem(`cannot use ${this.#folder}: ${(error as Error).message}`);
      this.#hasProblem = true;
      return undefined;
    }
  }
}

/** Thousands of files in one folder would make each look-up slow. */
function shardOf(name: string): string {
  return name.slice(0, 2);
}

function entryIn(path: string): Entry[] {
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    const entry = lines.map(parseJson).findLast((each) => each !== undefined) as Entry;
    return entry.name === basename(path) && isWhole(entry) ? [entry] : [];
  } catch {
    return []; // It was removed meanwhile, or somebody edited it.
  }
}
