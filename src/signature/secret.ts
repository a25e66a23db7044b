import { CodedError } from "../error";
import { type MacKey, macKey } from "./mac";

const PREFIX = "whsec_";

/**
 * A secret that no key can be made of. Neither the message nor a property holds the secret or a part of it.
 *
 * Thrown by `sign`, `createVerifier` and `createReceiver`, which run where a person can mend it. `verify` answers
 * false instead.
 */
export class WebhookSecretError extends CodedError<"SECRET_INVALID"> {
  override readonly name = "WebhookSecretError";

  constructor(problem: string) {
    super(
      "SECRET_INVALID",
      `A webhook secret cannot be used: ${problem}. ` +
        `Expected "${PREFIX}" followed by the padded base64 of the key, exactly as the service issued it`,
    );
  }
}

/** What is wrong with a secret, in words that do not repeat it; undefined when it can be used. */
function problemOfSecret(secret: unknown): string | undefined {
  if (typeof secret !== "string")
    return `it is ${secret === null ? "null" : `of type ${typeof secret}`}, not a string`;
  if (secret === "") return "it is empty";
  if (secret.trim() !== secret) return "it begins or ends with white space, such as the line end of a file";
  if (!secret.startsWith(PREFIX)) return `it does not begin with "${PREFIX}"`;
  if (secret.length === PREFIX.length) return `nothing follows "${PREFIX}"`;
  if (!isCanonicalBase64(secret.slice(PREFIX.length))) return `what follows "${PREFIX}" is not padded base64`;
  return undefined;
}

/** The HMAC key in a secret. @throws WebhookSecretError */
export function keyOf(secret: string): MacKey {
  const problem = problemOfSecret(secret);
  if (problem !== undefined) throw new WebhookSecretError(problem);
  return macKey(Buffer.from(secret.slice(PREFIX.length), "base64"));
}

/** The HMAC keys in one or several secrets. @throws WebhookSecretError for a malformed one, and for none at all */
export function keysOf(secrets: string | readonly string[]): readonly MacKey[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) throw new WebhookSecretError("there is none");
  return list.map(keyOf);
}

/**
 * Whether the text is base64 as RFC 4648 section 4 writes it: standard alphabet, padded, the unused bits zero. Then no
 * two texts stand for the same bytes.
 */
function isCanonicalBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text;
}
