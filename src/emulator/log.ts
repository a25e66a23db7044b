import type { FaultKind, Operation } from "./faults";

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

/** One request to the management API. Headers are not kept, so no API key is. */
export interface LoggedRequest {
  /** When it arrived: milliseconds since 1970, by the emulator's clock. */
  readonly at: number;
  /** The HTTP method. */
  readonly method: string;
  /** The path with the query, as sent. */
  readonly path: string;
  /** Null for an unknown path or method. */
  readonly operation: Operation | null;
  /** Null without a valid API key. */
  readonly account: string | null;
  /** Null until there is a response. */
  readonly status: number | null;
  /** The fault that it hit. */
  readonly fault?: FaultKind;
  /** The parsed body, or the raw string when it is not JSON. */
  readonly body?: unknown;
}
