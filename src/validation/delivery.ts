import { randomBytes, randomUUID } from "node:crypto";
import { sign } from "../signature";

/** The event type of a delivery that only proves the receiver. Receivers of this package answer it without calling a handler. */
const VALIDATION_EVENT = "webhook.validation";

/** A request as it is sent. */
export interface ValidationDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a new delivery, signed with the secret. */
export function genuineDelivery(secret: string): ValidationDelivery {
  const now = Date.now();
  // JSON that no serializer writes this way: a receiver that parses the body and serializes it again gets other bytes. So does one that decodes it
  // with the wrong character set.
  const body = `{ "type":"${VALIDATION_EVENT}",  "timestamp": "${new Date(now).toISOString()}", "data" : {"note": "\\u0070roves the receiver: ✓ ä"} }\n`;
  // An id of its own: some receivers accept an id that they have seen before they verify anything.
  const id = `msg_validation_${randomUUID()}`;
  const signature = sign({ id, timestamp: Math.floor(now / 1000), body, secret });
  return { headers: { ...signature, "content-type": "application/json" }, body };
}

/** Returns a new delivery, signed with a key that nobody has. */
export function brokenDelivery(): ValidationDelivery {
  return genuineDelivery(`whsec_${randomBytes(32).toString("base64")}`);
}
