/** The most entries that are kept. */
const CAPACITY = 100_000;

/** A list of the newest entries, oldest first. */
export class NewestEntries<Entry> {
  entries: Entry[] = [];

  add(entry: Entry): void {
    if (this.entries.push(entry) > CAPACITY) this.entries.shift();
  }

  /** Starts a new list. An array that was read earlier keeps its content. */
  clear(): void {
    this.entries = [];
  }
}
