export type EndpointType = "production" | "development";

/** An endpoint as the service described it at one moment: an immutable snapshot. */
export interface Endpoint {
  readonly id: string;
  /** In the service's own spelling. */
  readonly url: string;
  readonly type: EndpointType;
  /** In the service's own format; null after a registration, whose answer has none. */
  readonly createdAt: string | null;
  /** In the service's own format; null after a registration, whose answer has none. */
  readonly updatedAt: string | null;
}

/** What `list` returns, frozen. */
export interface EndpointList {
  readonly endpoints: readonly Endpoint[];
  /** False when the service announced more than it sent: an endpoint that is not in `endpoints` may still exist. */
  readonly complete: boolean;
  /** The service's clock when it answered, in milliseconds since 1970; null where its answer has no readable `Date`. */
  readonly serverTime: number | null;
}

/** What `register` sends, exactly as written. */
export interface Registration {
  /** Where events are delivered. It may hold a token, so no message shows more of it than scheme and host. */
  readonly url: string;
  readonly type: EndpointType;
  /** An address or CIDR range to filter by; the service never returns it. Default: none. */
  readonly ip?: string | undefined;
}
