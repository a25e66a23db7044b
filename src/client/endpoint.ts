export type EndpointType = "production" | "development";

/** An endpoint as the service described it at one moment: an immutable snapshot. */
export interface Endpoint {
  /** A service that numbers its endpoints gets its numbers back as decimal strings. */
  readonly id: string;
  /** In the service's own spelling. */
  readonly url: string;
  readonly type: EndpointType;
  /** In the service's own format; null after a registration, whose answer has none. */
  readonly createdAt: string | null;
  /** In the service's own format; null after a registration, whose answer has none. */
  readonly updatedAt: string | null;
}

/** An endpoint of a list whose type is neither "production" nor "development". */
export interface UnrecognizedEndpoint {
  readonly id: string;
  /** In the service's own spelling; null if it has none. */
  readonly url: string | null;
}

/** The result of `list`, frozen. */
export interface EndpointList {
  readonly endpoints: readonly Endpoint[];
  /**
   * Endpoints of a type that this package does not know. They exist, so their ids are not absent, and a registration of
   * such a url cannot be called absent either: the service may spell its type in another way.
   */
  readonly unrecognized: readonly UnrecognizedEndpoint[];
  /** False if the service announced more endpoints than it sent: an endpoint that the list lacks may still exist. */
  readonly complete: boolean;
  /** The service's time when it answered, in milliseconds since 1970; null without a readable `Date` header. */
  readonly serverTime: number | null;
}

/** What `register` sends, exactly as written. */
export interface Registration {
  /** Where events are delivered. It may hold a token, so messages show only its scheme and host. */
  readonly url: string;
  readonly type: EndpointType;
  /** An address or CIDR range to filter by; the service never returns it. Default: none. */
  readonly ip?: string | undefined;
}
