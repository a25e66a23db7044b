// What stands in users' state, and so can never change: every later release reads it.

/**
 * The provider's code as each resource in users' state carries it. Every later release evaluates it in the program's
 * directory, so neither the code, nor the subpath, nor the export that it names may ever change.
 */
export const PROVIDER_CODE = 'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;';

/** The type token. It stands in users' state and may never change. */
export const TYPE_TOKEN = "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint";

/** The type token of the native plugin's endpoints. It stands in users' state too. */
export const NATIVE_TYPE_TOKEN = "webhooks:index:WebhookEndpoint";

/** The same of a receiver's validation. */
export const VALIDATION_PROVIDER_CODE =
  'exports.handler = () => require("pulumi-webhook-endpoints/provider").receiverValidation;';
export const VALIDATION_TYPE_TOKEN = "pulumi-nodejs:dynamic/webhooks:ReceiverValidation";
export const NATIVE_VALIDATION_TYPE_TOKEN = "webhooks:index:ReceiverValidation";

/** Returns whether a resource of this type is an endpoint, of the dynamic provider or of the native plugin. */
export function isEndpointToken(type: string): boolean {
  return type === TYPE_TOKEN || type === NATIVE_TYPE_TOKEN;
}

/** Returns whether a value is a resource of this type, or what a policy pack asks a class of: `{ __pulumiType }`, and nothing else. */
export function hasType(value: unknown, type: string): boolean {
  return Reflect.get(Object(value), "__pulumiType") === type;
}

/** How the id of a pending resource begins: its registration got no usable response. */
export const PENDING_PREFIX = "pending:";

/** Returns whether an id stands for a registration that got no usable response. */
export function isPendingId(id: string): boolean {
  return id.startsWith(PENDING_PREFIX);
}

/**
 * The hidden input that `check` sets once, to the service's time in milliseconds since 1970: the registration is sent after it.
 * An interrupted creation has no other time (engine rules 39 and 49). Previews do not show inputs that begin with "__".
 */
export const AFTER_INPUT = "__after";

/** Where and with which key an endpoint was registered. Today's settings may differ. */
export interface Origin {
  baseUrl: string;
  /** A fingerprint of the API key: 24 bits of its hash. Another one means a rotated key or another account. */
  account: string;
  /** The name of the `WebhooksProvider`; absent for the default provider. */
  provider?: string;
}

/** What `create` records of a registration, so that a later run knows the endpoint again. A state may lack it. */
export interface Recognition {
  /** When the response arrived, in milliseconds on the service's clock, to the second. Absent if the service tells no time, or it was adopted. */
  registeredAt?: number;
  /** A short hash of the url as the service stores it; absent if that is the declared one. The url itself may hold a token. */
  storedAs?: string;
}

/** What a pending resource holds of its registration, so that a later run recognizes the endpoint that it may have made. */
export interface PendingRegistration {
  /** The ids that were listed before it was sent: of this url and type, and of rows that could not be read. */
  before: string[];
  /** When it was sent, in milliseconds on the service's clock; null if the service tells no time. */
  attemptedAt: number | null;
}
