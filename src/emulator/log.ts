/** The most entries that a log keeps. */
const CAPACITY = 100_000;

/** A list of the newest entries, oldest first. */
export class Log<Entry> {
  entries: Entry[] = [];

  add(entry: Entry): void {
    if (this.entries.push(entry) > CAPACITY) this.entries.shift();
  }

  /** Starts a new list. An array that was read earlier keeps its content. */
  clear(): void {
    this.entries = [];
  }
}
