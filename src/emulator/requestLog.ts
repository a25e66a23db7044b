import type { FaultKind, Operation } from "./fault";

/** One request to the management API. No header is kept, and so no API key. */
export interface LoggedRequest {
  /** When it arrived: milliseconds since 1970, by the emulator's clock. */
  readonly at: number;
  readonly method: string;
  /** With the query, as it was sent. */
  readonly path: string;
  /** Null for a path or method that the service does not have. */
  readonly operation: Operation | null;
  /** Null without a valid API key. */
  readonly account: string | null;
  /** Null as long as nothing was answered. */
  readonly statusCode: number | null;
  readonly fault?: FaultKind;
  /** The parsed body; its text where it is no JSON. */
  readonly body?: unknown;
}

export type OpenRequest = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] };
