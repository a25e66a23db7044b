/** What an endpoint is for. The service defines what the types mean, and may sign them with different secrets. */
export type EndpointType = "production" | "development";

export const ENDPOINT_TYPES: readonly EndpointType[] = ["production", "development"];

export function isEndpointType(value: unknown): value is EndpointType {
  return ENDPOINT_TYPES.some((type) => type === value);
}
