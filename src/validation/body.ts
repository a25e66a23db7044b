import { VALIDATION_EVENT } from "../shared/validation";

/**
 * Returns the body of a validation's delivery: JSON that no serializer writes this way. A receiver that parses and serializes it again gets
 * other bytes, and so does one that decodes it with the wrong character set.
 */
export function validationBody(timestamp: string): string {
  return `{ "type":"${VALIDATION_EVENT}",  "timestamp": "${timestamp}", "data" : {"note": "\\u0070roves the receiver: ✓ ä"} }\n`;
}
