import { createHmac } from "node:crypto";
import type { SignatureHeaders } from "../../signature/headers";
import type { NamedSecret } from "../secrets/secrets";

export interface SignatureMistake {
  readonly reason: "signature-encoding" | "key-not-decoded" | "signed-content";
  readonly finding: string;
  readonly secret: NamedSecret;
}

interface MistakeOptions {
  readonly body: Uint8Array;
  readonly sent: SignatureHeaders;
  readonly secrets: readonly NamedSecret[];
}

/** The bytes of an HMAC-SHA256. */
const SIGNATURE_BYTES = 32;
const PREFIX = "whsec_";

/** Looks for mistakes that programs make when they sign or write the signature themselves. */
export function signatureMistake({ body, sent, secrets }: MistakeOptions): SignatureMistake | undefined {
  const given = givenSignatures(sent.signature);
  const { id, timestamp } = sent;
  const contents: readonly (readonly [string, string])[] = [
    ["the id, the timestamp and the body", `${id}.${timestamp}.`],
    ["the timestamp and the body, without the id", `${timestamp}.`],
    ["the id and the body, without the timestamp", `${id}.`],
    ["the body alone", ""],
  ];
  for (const secret of secrets) {
    const encoded = secret.value.slice(PREFIX.length);
    const keys = [Buffer.from(encoded, "base64"), Buffer.from(encoded), Buffer.from(secret.value)];
    for (const [keyNumber, key] of keys.entries())
      for (const [contentNumber, [content, prefix]] of contents.entries()) {
        const expected = createHmac("sha256", key).update(prefix).update(body).digest();
        if (!given.some((each) => each.equals(expected))) continue;
        if (keyNumber > 0)
          return {
            reason: "key-not-decoded",
            finding: `The signature was made with the characters of ${secret.name}, not with the key that they encode.`,
            secret,
          };
        if (contentNumber > 0)
          return {
            reason: "signed-content",
            finding: `The signature matches ${secret.name}, but covers ${content}.`,
            secret,
          };
        return {
          reason: "signature-encoding",
          finding: `The signature matches ${secret.name}, but is not written as "v1," and 44 characters of base64.`,
          secret,
        };
      }
  }
  return undefined;
}

/** Returns the signatures of a header in whatever way they are encoded, with a version before them or not. */
function givenSignatures(header: string): Buffer[] {
  return header
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/^(v\d\w*|sha256)=/, ""))
    .map((text) => (/^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64")))
    .filter(({ length }) => length === SIGNATURE_BYTES);
}
