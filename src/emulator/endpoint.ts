import { isRecord } from "../shared/json";
import { isAddressOrRange, isHttpUrl } from "../shared/url";
import { checkNames, EmulatorError } from "./errors";

/** The types of endpoints. Each has signing secrets of its own. */
export type EmulatedEndpointType = "production" | "development";

export const ENDPOINT_TYPES: readonly EmulatedEndpointType[] = ["production", "development"];

/** @param action what cannot be done, such as "deliver" @throws EmulatorError */
export function checkType(action: string, type: EmulatedEndpointType | undefined): void {
  if (type !== undefined && !ENDPOINT_TYPES.includes(type))
    throw new EmulatorError(
      "EMULATOR_OPTIONS",
      `Cannot ${action}: the type must be ${ENDPOINT_TYPES.join(" or ")}.`,
    );
}

/**
 * The properties of a registration. `ip` is an address or a CIDR range. The API accepts it and never returns it. The
 * emulator's own deliveries ignore it.
 */
export interface EndpointInput {
  /** Where deliveries go. */
  readonly url: string;
  /** What the endpoint is for. */
  readonly type: EmulatedEndpointType;
  /** The filter of addresses. The emulator ignores it. */
  readonly ip?: string | undefined;
}

/** An endpoint to add without a request. */
export interface AddedEndpoint extends EndpointInput {
  /** When it was created, in ISO 8601. Default: now. */
  readonly createdAt?: string | undefined;
}

/** A frozen snapshot of an endpoint. Timestamps are in ISO 8601. */
export interface EmulatedEndpoint extends EndpointInput {
  /** The id that the emulator assigned. */
  readonly id: string;
  /** The filter of addresses. The emulator ignores it. */
  readonly ip: string | undefined;
  /** When it was registered, as an ISO 8601 string. */
  readonly createdAt: string;
  /** When it was last changed, as an ISO 8601 string. */
  readonly updatedAt: string;
}

/** An endpoint may be copied: its id and `updatedAt` are then the service's to set. */
const INPUT: Readonly<Record<keyof AddedEndpoint | keyof EmulatedEndpoint, true>> = {
  id: true,
  updatedAt: true,
  url: true,
  type: true,
  ip: true,
  createdAt: true,
};

/**
 * Checks what a program adds or changes without a request. Its url may be odd on purpose, but a variable that is not set would be one that
 * no delivery reaches.
 *
 * @throws EmulatorError
 */
export function checkInput(action: string, input: Partial<AddedEndpoint>): void {
  checkNames(action, input, INPUT);
  checkType(action, input.type);
  if (typeof input.url !== "string" || input.type === undefined)
    throw new EmulatorError("EMULATOR_OPTIONS", `Cannot ${action}: it needs a url and a type.`);
}

/** A valid registration, or the reason why the service refuses it. */
type Validated = { readonly input: EndpointInput } | { readonly problem: string };

/** Validates the body of a registration. Unknown members are ignored. */
export function validateRegistration(body: unknown): Validated {
  if (!isRecord(body)) return { problem: "The body must be a JSON object with url and type." };
  const { url, type, ip } = body;
  if (!isHttpUrl(url)) return { problem: "url must be an absolute http or https URL." };
  if (type !== "production" && type !== "development") {
    return { problem: 'type must be "production" or "development".' };
  }
  if (ip === undefined) return { input: { url, type } };
  if (!isAddressOrRange(ip)) return { problem: "ip must be an IPv4 or IPv6 address or a CIDR range." };
  return { input: { url, type, ip } };
}
