import type { EndpointType } from "../shared/endpointType";

export type { EndpointType };

/** An endpoint as the service described it at one moment: an immutable snapshot. */
export interface Endpoint {
  /** A service that numbers its endpoints gets its numbers back as decimal strings. */
  readonly id: string;
  /** In the service's own spelling. */
  readonly url: string;
  /** What the endpoint is for. */
  readonly type: EndpointType;
  /** In the service's own format; null after a registration, whose response has none. */
  readonly createdAt: string | null;
  /** As `createdAt`. */
  readonly updatedAt: string | null;
}

/** An endpoint of a list that has an id, but another field that this package cannot read. */
export interface UnrecognizedEndpoint {
  /** As the service lists it. */
  readonly id: string;
  /** In the service's own spelling; null if it is not a non-empty string, so that it may be any url. */
  readonly url: string | null;
}

/** An endpoint of a list, readable or not. */
export type Row = Endpoint | UnrecognizedEndpoint;

export function isReadable(row: Row): row is Endpoint {
  return "type" in row;
}

/** The result of `list`, frozen. */
export interface EndpointList {
  /** The endpoints that could be read. */
  readonly endpoints: readonly Endpoint[];
  /** Endpoints that this package cannot read. They exist, and any of them may come from a registration of its url, or of any if that is null. */
  readonly unrecognized: readonly UnrecognizedEndpoint[];
  /**
   * False if an endpoint that the list lacks may still exist: the service announced more endpoints than it sent, an entry has
   * no usable id (a non-empty string, or an integer below 2^53), or two entries have the same id.
   */
  readonly complete: boolean;
  /** The service's time when it responded, in milliseconds since 1970; null without a readable `Date` header. */
  readonly serverTime: number | null;
}

/** Returns all rows of a list. */
export function rowsOf({ endpoints, unrecognized }: EndpointList): Row[] {
  return [...endpoints, ...unrecognized];
}

/** What `register` sends, exactly as written. */
export interface Registration {
  /** Where events are delivered. It may hold a token, so messages show only its scheme and host. */
  readonly url: string;
  /** What the endpoint is for. */
  readonly type: EndpointType;
  /** An address or CIDR range to filter by; the service never returns it. Default: none. */
  readonly ip?: string | undefined;
}
