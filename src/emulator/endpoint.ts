export type EmulatedEndpointType = "production" | "development";

/**
 * What a registration holds. `ip` is an address or a CIDR range; the API takes it and never
 * returns it, and the emulator's own deliveries heed none.
 */
export interface EndpointInput {
  readonly url: string;
  readonly type: EmulatedEndpointType;
  readonly ip?: string | undefined;
}

/** An endpoint as the emulator keeps it: a frozen snapshot, timestamps in ISO 8601. */
export interface EmulatedEndpoint {
  readonly id: string;
  readonly url: string;
  readonly type: EmulatedEndpointType;
  readonly ip: string | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}
