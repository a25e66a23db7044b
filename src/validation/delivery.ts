import { randomBytes, randomUUID } from "node:crypto";
import { sign } from "../signature";

/** The event type of a delivery that only proves the receiver. Receivers of this package answer it without calling a handler. */
const VALIDATION_EVENT = "webhook.validation";

/** A request as it is sent. */
export interface ValidationDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface DeliveryPair {
  readonly genuine: ValidationDelivery;
  /** The same body, signed with a key that nobody has. */
  readonly broken: ValidationDelivery;
}

/** Signs a new pair of deliveries. Each has an id of its own, so that no receiver takes one for a duplicate of the other. */
export function deliveryPair(secret: string): DeliveryPair {
  const nobodysSecret = `whsec_${randomBytes(32).toString("base64")}`;
  return { genuine: signed(secret), broken: signed(nobodysSecret) };
}

function signed(secret: string): ValidationDelivery {
  const now = Date.now();
  const id = `msg_validation_${randomUUID()}`;
  const body = bodyAt(new Date(now).toISOString());
  const signature = sign({ id, timestamp: Math.floor(now / 1000), body, secret });
  return { headers: { ...signature, "content-type": "application/json" }, body };
}

/** JSON that no serializer writes this way: a receiver that parses the body and serializes it again gets other bytes. */
function bodyAt(timestamp: string): string {
  return `{ "type":"${VALIDATION_EVENT}",  "timestamp": "${timestamp}", "data" : {"note": "\\u0070roves the receiver"} }\n`;
}
