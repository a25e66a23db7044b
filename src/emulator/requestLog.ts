import type { FaultKind, Operation } from "./fault";

/** One request to the management API. Headers are not kept, so no API key is. */
export interface LoggedRequest {
  /** When it arrived: milliseconds since 1970, by the emulator's clock. */
  readonly at: number;
  readonly method: string;
  /** The path with the query, as sent. */
  readonly path: string;
  /** Null for an unknown path or method. */
  readonly operation: Operation | null;
  /** Null without a valid API key. */
  readonly account: string | null;
  /** Null until the request is answered. */
  readonly statusCode: number | null;
  readonly fault?: FaultKind;
  /** The parsed body, or the raw string when it is not JSON. */
  readonly body?: unknown;
}

/** A request that is still being handled. */
export type OpenRequest = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] };
