import { createHash, randomUUID } from "node:crypto";
import { keyOf } from "../identity";
import { isProvisional } from "../state";
import type { EndpointInputs, UnansweredRegistration } from "../types";
import { JournalFile, type JournalKey } from "./journalFile";

/** How many open entries a shortened journal keeps: those of a large run that was killed. */
const KEPT_OPEN_ENTRIES = 10_000;
/** How many closed entries it keeps, which show that the stack once had an endpoint. */
const KEPT_CLOSED_ENTRIES = 1_000;
/** How long to gather ids that the state holds before they are written together, in milliseconds. */
const GATHERING_MS = 20;

/** A registration, from before it is sent until a later run has found its endpoint in the state or settled it. */
export interface JournalEntry {
  readonly entry: string;
  /** The run that sent or took it last. */
  readonly run: string;
  /** A hash of url and type. */
  readonly identity: string;
  /** A hash of the ip. */
  readonly ip: string;
  /** When it was sent, in milliseconds on this machine's clock. */
  readonly at: number;
  readonly registration: UnansweredRegistration;
  /** What came of it: the endpoint's id, or the provisional id under which it went into the state. */
  readonly id?: string;
  readonly closed?: boolean;
}

/**
 * The registrations of one stack from this machine, in a file that outlives a killed run. It holds hashes, ids and times, and
 * no url, key or secret. It never makes a run fail: a journal that cannot be written or read is an empty one.
 */
export class Journal {
  readonly #file: JournalFile | undefined;
  readonly #run: string;
  readonly #entries: Map<string, JournalEntry>;
  /** The names of the entries of earlier runs, by identity and by id. */
  readonly #earlier = new Map<string, string[]>();
  /** The entries of this run, of all its plugin processes. */
  readonly #ofThisRun = new Map<string, Partial<JournalEntry>>();
  readonly #idsOfOtherStacks = new Set<string | undefined>();
  readonly #seen: string[] = [];

  /** @param key undefined when the stack is unknown; then nothing is written */
  constructor(run: string, key: JournalKey | undefined) {
    this.#run = run;
    this.#file = key && quietly(() => new JournalFile(key));
    this.#entries = entriesOf(this.#file?.read() ?? []);
    for (const { entry, identity, id = identity } of this.#entries.values()) {
      for (const key of new Set([identity, id])) {
        const names = this.#earlier.get(key);
        if (names) names.push(entry);
        else this.#earlier.set(key, [entry]);
      }
    }
    quietly(() => this.#file?.shorten(() => this.#kept()));
  }

  get path(): string | undefined {
    return this.#file?.path;
  }

  /** Returns the open registrations of earlier runs that were declared like this, the oldest first. */
  open(inputs: EndpointInputs): JournalEntry[] {
    const { identity, ip } = hashesOf(inputs);
    return this.#openEarlier(identity).filter((each) => each.ip === ip);
  }

  /** Returns whether an open registration differs only in ip: the service does not tell which of them made an endpoint. */
  isAmbiguous(inputs: EndpointInputs): boolean {
    const { identity, ip } = hashesOf(inputs);
    return this.#openEarlier(identity).some((each) => each.ip !== ip && each.id === undefined);
  }

  #openEarlier(key: string): JournalEntry[] {
    const entries = (this.#earlier.get(key) ?? []).flatMap((name) => this.#entries.get(name) ?? []);
    return entries.filter((each) => each.closed !== true && each.run !== this.#run);
  }

  /** Returns the entry with this id, open or closed, of any run. */
  find(id: string): JournalEntry | undefined {
    return [...this.#entries.values()].findLast((each) => each.id === id);
  }

  /** Returns whether another plugin process of this run has registered or adopted this endpoint (engine rule 34). */
  isMadeByThisRun(id: string): boolean {
    for (const line of quietly(() => this.#file?.readNew()) ?? []) {
      const { entry = "", run }: Partial<JournalEntry> = line;
      const known = this.#ofThisRun.get(entry);
      if (known || run === this.#run) this.#ofThisRun.set(entry, { ...known, ...line });
    }
    return [...this.#ofThisRun.values()].some((each) => each.id === id && each.closed !== true);
  }

  /** Returns whether another stack has registered or adopted this endpoint from this machine. */
  isOfAnotherStack(id: string): boolean {
    const lines: Partial<JournalEntry>[] = quietly(() => this.#file?.readNew({ ofOtherStacks: true })) ?? [];
    for (const line of lines) this.#idsOfOtherStacks.add(line.id);
    return this.#idsOfOtherStacks.has(id);
  }

  /** Writes a registration down before it is sent. Returns the name of its entry. */
  sending(inputs: EndpointInputs, registration: UnansweredRegistration, at: number): string {
    const entry = randomUUID();
    this.#write({ entry, run: this.#run, ...hashesOf(inputs), at, registration });
    return entry;
  }

  /** Writes down that an existing endpoint was taken. That closes the registrations that it came from or stands for. */
  took(inputs: EndpointInputs, id: string, at: number): void {
    for (const each of this.open(inputs)) {
      const isUnknown = each.id === undefined || isProvisional(each.id);
      if (each.id === id || (isUnknown && !each.registration.before.includes(id))) this.close(each.entry);
    }
    const registration = { before: [], attemptedAt: null, complete: false };
    this.#write({ entry: randomUUID(), run: this.#run, ...hashesOf(inputs), at, registration, id });
  }

  /** Writes down what came of a registration: an endpoint, or a provisional id. The entry is this run's from here on. */
  became(entry: string, id: string): void {
    const known = this.#entries.get(entry);
    if (known) this.#write({ ...known, run: this.#run, id }, { entry, run: this.#run, id });
  }

  /** Closes an entry: its registration has been settled, or never happened. */
  close(entry: string): void {
    const known = this.#entries.get(entry);
    if (known) this.#write({ ...known, closed: true }, { entry, closed: true });
  }

  /** Notes an id that the state holds: its entry needs no witness any more. Written soon, together with others. */
  seen(id: string): void {
    const found = this.#openEarlier(id).filter((each) => each.id === id);
    if (found.length === 0) return;
    for (const each of found) this.#entries.set(each.entry, { ...each, closed: true });
    if (this.#seen.length === 0) setTimeout(() => this.#writeSeen(), GATHERING_MS).unref();
    this.#seen.push(...found.map(({ entry }) => entry));
  }

  #writeSeen(): void {
    const lines = this.#seen.splice(0).map((entry) => ({ entry, closed: true }));
    quietly(() => this.#file?.append(lines));
  }

  #write(entry: JournalEntry, line: object = entry): void {
    this.#entries.set(entry.entry, entry);
    quietly(() => this.#file?.append([line]));
  }

  #kept(): JournalEntry[] {
    const all = [...this.#entries.values()];
    return [
      ...all.filter(({ closed }) => closed === true).slice(-KEPT_CLOSED_ENTRIES),
      ...all.filter(({ closed }) => closed !== true).slice(-KEPT_OPEN_ENTRIES),
    ];
  }
}

/** Returns the entries that lines add up to, in the order in which they were begun. */
function entriesOf(lines: readonly object[]): Map<string, JournalEntry> {
  const entries = new Map<string, JournalEntry>();
  for (const line of lines as Partial<JournalEntry>[]) {
    const { entry } = line;
    if (typeof entry !== "string") continue;
    const merged = { ...entries.get(entry), ...line, entry };
    if (isEntry(merged)) entries.set(entry, merged);
  }
  return entries;
}

function isEntry(line: Partial<JournalEntry> & Pick<JournalEntry, "entry">): line is JournalEntry {
  const { run, identity, ip, at, registration, id } = line;
  return (
    typeof run === "string" &&
    typeof identity === "string" &&
    typeof ip === "string" &&
    typeof at === "number" &&
    Array.isArray(registration?.before) &&
    typeof registration.complete === "boolean" &&
    (id === undefined || typeof id === "string")
  );
}

function hashesOf(inputs: EndpointInputs): Pick<JournalEntry, "identity" | "ip"> {
  const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);
  return { identity: hash(keyOf(inputs)), ip: hash(inputs.ip ?? "") };
}

/** Runs file operations whose failure must not fail the run: a full disk, an unwritable folder. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
