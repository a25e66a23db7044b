export type EmulatedEndpointType = "production" | "development";

/**
 * The properties of a registration. `ip` is an address or a CIDR range. The API accepts it and never returns it. The
 * emulator's own deliveries ignore it.
 */
export interface EndpointInput {
  readonly url: string;
  readonly type: EmulatedEndpointType;
  readonly ip?: string | undefined;
}

/** An endpoint to add without a request. */
export interface AddedEndpoint extends EndpointInput {
  /** When it was created, in ISO 8601. Default: now. */
  readonly createdAt?: string | undefined;
}

/** A frozen snapshot of an endpoint. Timestamps are in ISO 8601. */
export interface EmulatedEndpoint {
  readonly id: string;
  readonly url: string;
  readonly type: EmulatedEndpointType;
  readonly ip: string | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}
