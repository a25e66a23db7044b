import { fingerprintOf } from "../../stack/config";
import type { NamedSecret } from "./secrets";

/** Identifies a secret without revealing it, as `docs/signature-mismatch.md` explains. */
export function dataOfSecret({ name, value }: NamedSecret): { name: string; fingerprint: string } {
  return { name, fingerprint: fingerprintOf([value]) };
}

export function describeSecret(secret: NamedSecret): string {
  const { name, fingerprint } = dataOfSecret(secret);
  return `${name} (fingerprint ${fingerprint})`;
}
