import type { FaultKind, Operation } from "./faults";

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
