import { createSecretKey, type KeyObject } from "node:crypto";
import { CodedError } from "../shared/codedError";

const PREFIX = "whsec_";

/** A secret is malformed or missing. Neither the message nor a property holds the secret or a part of it. */
export class WebhookSecretError extends CodedError<"SECRET_INVALID"> {
  /** Always `"WebhookSecretError"`. */
  override readonly name = "WebhookSecretError";

  constructor(problem: string) {
    super(
      "SECRET_INVALID",
      `A webhook secret cannot be used: ${problem}. ` +
        `Expected "${PREFIX}" followed by the padded base64 of the key, exactly as the service issued it`,
    );
  }
}

/** Returns what is wrong with a secret, such as "is empty", or undefined if it is valid. Does not repeat the secret. */
export function problemOfSecret(secret: unknown, shortestKeyBytes = 1): string | undefined {
  if (typeof secret !== "string") return `is of type ${typeof secret}, not a string`;
  if (secret === "") return "is empty";
  if (secret.trim() !== secret) return "begins or ends with white space, such as the line end of a file";
  if (!secret.startsWith(PREFIX)) return `does not begin with "${PREFIX}"`;
  const digits = secret.slice(PREFIX.length);
  const key = Buffer.from(digits, "base64");
  // Canonical base64 only, so that no two secrets stand for the same key.
  if (key.toString("base64") !== digits)
    return `is cut off or altered: what follows "${PREFIX}" is not padded base64`;
  if (key.length < shortestKeyBytes)
    return `is cut off: its key has ${key.length} bytes, and the shortest valid one has ${shortestKeyBytes}`;
  return undefined;
}

/** Returns the HMAC key of a secret. @throws WebhookSecretError */
function keyOf(secret: string): KeyObject {
  const problem = problemOfSecret(secret);
  if (problem !== undefined) throw new WebhookSecretError(`it ${problem}`);
  return createSecretKey(secret.slice(PREFIX.length), "base64");
}

/** Returns the HMAC keys of one or more secrets. @throws WebhookSecretError if one is malformed or there is none */
export function keysOf(secrets: string | readonly string[]): readonly KeyObject[] {
  const list = Array.isArray(secrets) ? secrets : [secrets];
  if (list.length === 0) throw new WebhookSecretError("there is none");
  // Not `map`, which skips the holes of a sparse array.
  return Array.from(list, keyOf);
}
