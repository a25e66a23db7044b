import { randomBytes, randomUUID } from "node:crypto";
import { sign } from "../signature";

/** The event type of a delivery that only proves the receiver. Receivers of this package answer it without calling a handler. */
const VALIDATION_EVENT = "webhook.validation";

/** A request as it is sent. */
export interface ValidationDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Deliveries with the same body and time. */
export interface Deliveries {
  readonly genuine: ValidationDelivery;
  /** Has the id of the genuine one, and is signed with a key that nobody has. */
  readonly broken: ValidationDelivery;
  /** As `broken`, with an id of its own: no receiver takes it for a duplicate. */
  readonly brokenAnew: ValidationDelivery;
}

/** Signs new deliveries. */
export function deliveriesFor(secret: string): Deliveries {
  const now = Date.now();
  // JSON that no serializer writes this way: a receiver that parses the body and serializes it again gets other bytes. So does one that decodes it
  // with the wrong character set.
  const body = `{ "type":"${VALIDATION_EVENT}",  "timestamp": "${new Date(now).toISOString()}", "data" : {"note": "\\u0070roves the receiver: ✓ ä"} }\n`;
  const signed = (id: string, key: string): ValidationDelivery => {
    const signature = sign({ id, timestamp: Math.floor(now / 1000), body, secret: key });
    return { headers: { ...signature, "content-type": "application/json" }, body };
  };
  const nobodysSecret = `whsec_${randomBytes(32).toString("base64")}`;
  const id = newId();
  return {
    genuine: signed(id, secret),
    broken: signed(id, nobodysSecret),
    brokenAnew: signed(newId(), nobodysSecret),
  };
}

function newId(): string {
  return `msg_validation_${randomUUID()}`;
}
