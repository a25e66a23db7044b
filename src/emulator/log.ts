/** The most entries that a log keeps. */
const CAPACITY = 100_000;

/** An append-only list of bounded length. When it is full, it drops its oldest tenth. */
export class Log<Entry> {
  #entries: Entry[] = [];

  constructor(private readonly capacity = CAPACITY) {}

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  add(entry: Entry): void {
    if (this.#entries.length >= this.capacity) {
      this.#entries = this.#entries.slice(Math.ceil(this.capacity / 10));
    }
    this.#entries.push(entry);
  }

  /** Starts a new list. An array that `entries` returned earlier keeps its content. */
  clear(): void {
    this.#entries = [];
  }
}
