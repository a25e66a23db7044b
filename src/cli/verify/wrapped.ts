import { readJsonText, writeJsonText } from "../../shared/jsonText";
import type { BodyVariant } from "./bodyVariant";

/** How many fields of an object are looked at. */
const MOST_FIELDS = 50;
const COMPACT = { comma: ",", colon: ":" };
const PLAIN_NAME = /^[A-Za-z_][\w-]{0,30}$/;

/**
 * Generates the fields of a JSON object that may be the body, as an event of AWS Lambda has it in `body`, or a queue or a mapping
 * template in a field of its own.
 */
export function* fieldReadings(text: string): Generator<BodyVariant> {
  if (!text.startsWith("{")) return;
  const json = readJsonText(text);
  if (json?.kind !== "object") return;
  for (const { name, value } of json.members.slice(0, MOST_FIELDS)) {
    const key = String(JSON.parse(name));
    const description = PLAIN_NAME.test(key) ? `the field ${key} of this body` : "a field of this body";
    if (value.kind === "string") {
      const content = String(JSON.parse(value.text));
      yield { change: "body-wrapped", bytes: Buffer.from(content), description };
    } else if (value.kind === "object" || value.kind === "array")
      yield { change: "body-wrapped", bytes: Buffer.from(writeJsonText(value, COMPACT)), description };
  }
}
