import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { Properties } from "../provider/facts/exportedState";

/** Properties as the verbs take them, and the names of those that are secret or hold a secret. */
export interface FromEngine {
  readonly values: Properties;
  readonly secretNames: ReadonlySet<string>;
}

// How the engine writes a secret: an envelope with this key and value, and the secret under `value`.
const ENVELOPE_KEY = "4dabf18193072939515e22adb298388d";
const SECRET_ENVELOPE = "1b47061264138c4ac30d75fd1eb44270";

/** Takes secrets out of their envelopes. @param alwaysSecret the names of more secrets, with or without an envelope */
export function fromEngine(struct: Struct | undefined, alwaysSecret: readonly string[] = []): FromEngine {
  const values: Record<string, unknown> = {};
  const secretNames = new Set(alwaysSecret);
  for (const [name, value] of Object.entries(struct?.toJavaScript() ?? {})) {
    values[name] = unwrap(value, () => secretNames.add(name));
  }
  return { values, secretNames };
}

/** Writes properties for the engine, with those of these names in secret envelopes. Undefined ones are left out. */
export function toEngine(properties: Properties, secretNames: Iterable<string>): Struct {
  const names = new Set(secretNames);
  // The encoder throws on undefined, however deep (engine rule 25).
  const defined: Properties = JSON.parse(JSON.stringify(properties));
  const entries = Object.entries(defined).map(([name, value]) => [
    name,
    names.has(name) && value !== null ? { [ENVELOPE_KEY]: SECRET_ENVELOPE, value } : value,
  ]);
  return Struct.fromJavaScript(Object.fromEntries(entries));
}

function unwrap(value: unknown, onSecret: () => void): unknown {
  if (Array.isArray(value)) return value.map((one) => unwrap(one, onSecret));
  if (typeof value !== "object" || value === null) return value;
  const record = value as Properties;
  if (record[ENVELOPE_KEY] === SECRET_ENVELOPE) {
    onSecret();
    return unwrap(record.value, onSecret);
  }
  return Object.fromEntries(Object.entries(record).map(([name, one]) => [name, unwrap(one, onSecret)]));
}
