const CAPACITY = 100_000;

/** An append-only list that forgets its oldest tenth when it is full, so that a long run does not eat the memory. */
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

  /** Begins a new list: one taken earlier keeps what it holds. */
  clear(): void {
    this.#entries = [];
  }
}
