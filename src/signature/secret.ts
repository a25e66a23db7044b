import { createHash, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { CodedError, KIND } from "../shared/codedError";

const PREFIX = "whsec_";
/** The shortest key that the Standard Webhooks specification allows, in bytes. A shorter one was cut off. */
const SHORTEST_KEY_BYTES = 24;

/** What `String(output)` and `JSON.stringify(output)` give. */
export const OUTPUT_AS_TEXT = [
  /Output<T>/,
  "is the text of a Pulumi Output: use the value that its apply gets",
] as const;

/** What people put in place of a secret or a receiver's configuration, and what to say. */
const MISTAKES: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/^\[?secret\]?$|[*•]{3}/i, "is masked: it was copied from a screen or a log that hides the value"],
  OUTPUT_AS_TEXT,
  [/^(undefined|null|\[object \w+\])$/, "is the text of a missing value or an object"],
  [/^(\$[{(]|op:)/, "is a reference that nothing has replaced"],
  [/^\{.*"version"/s, "is a receiver's configuration: pass it to receiverFromEnv or parseReceiverConfig"],
  [/whsec_.*[^\w+/=](v1,)?whsec_/s, "has several secrets: pass a list with a string for each"],
  [/^[{[]/, "is JSON: pass the strings in it"],
  [/^v1,/, 'begins with "v1,": remove that, so that it begins with "whsec_"'],
  [/^['"]/, "is in quotes: remove them, because `docker --env-file` keeps them"],
  [/^(export\s+)?\w+\s*=.*(whsec_|\{)/s, "begins with a name and =: keep only what follows the ="],
];

/** A secret is malformed or missing. Neither the message nor a property holds the secret or a part of it. */
export class WebhookSecretError extends CodedError<"SECRET_INVALID"> {
  /** @internal */ static readonly [KIND]: string = "WebhookSecretError";
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

/**
 * Returns every problem of the secrets of a configuration, each by its place. It is stricter than `verify`, which takes the short keys that
 * the reference library takes. No problem repeats a secret or a part of one.
 */
export function problemsOfSecrets(secrets: unknown): string[] {
  if (!Array.isArray(secrets)) return ["secrets must be a list"];
  if (secrets.length === 0) return ["secrets is empty: a receiver needs at least one"];
  return secrets.flatMap((secret: unknown, index) => {
    const isRepeated = secrets.indexOf(secret) < index;
    const problem = isRepeated
      ? "is the same as an earlier one"
      : problemOfSecret(secret, SHORTEST_KEY_BYTES);
    return problem === undefined ? [] : [`secret ${index + 1} of ${secrets.length} ${problem}`];
  });
}

/** Returns what is wrong with a secret, such as "is empty", or undefined if it is valid. Does not repeat the secret. */
function problemOfSecret(secret: unknown, shortestKeyBytes: number): string | undefined {
  const problem = problemOfForm(secret, shortestKeyBytes);
  return problem === undefined ? undefined : (mistakeIn(secret) ?? problem);
}

/** Returns what somebody did to a string by mistake, if it is a common one. */
export function mistakeIn(value: unknown, mistakes = MISTAKES): string | undefined {
  return mistakes.find(([pattern]) => typeof value === "string" && pattern.test(value))?.[1];
}

function problemOfForm(secret: unknown, shortestKeyBytes: number): string | undefined {
  if (typeof secret !== "string")
    return `is ${secret === null ? "null" : `of type ${typeof secret}`}, not a string`;
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
  const problem = problemOfSecret(secret, 1);
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

/**
 * Identifies secrets without revealing them, by 48 bits of a hash. Their order does not matter, because a delivery may be signed with any
 * of them.
 */
export function fingerprintOf(secrets: readonly string[]): string {
  const text = JSON.stringify(["webhook receiver", ...[...secrets].sort()]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** Returns a new signing secret. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(32).toString("base64")}`;
}
