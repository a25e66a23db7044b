import type { KeyObject } from "node:crypto";
import { keysOf } from "../signature/secret";
import { inTime } from "./limits";
import type { Secrets } from "./types";

type Keys = readonly KeyObject[] | undefined;

interface KeySource {
  /** The keys to verify with, or undefined if the secrets could never be read. */
  current(): Keys | Promise<Keys>;
  /** After a mismatch: other keys if the secrets have changed since, or the same array. */
  afterMismatch(): Keys | Promise<Keys>;
}

interface KeySourceOptions {
  readonly now: () => number;
  readonly initial?: Secrets | undefined;
  readonly onError: (error: unknown) => void;
}

/** How long an answer is used, and so how long a withdrawn secret is still accepted, unless the function fails. */
const MAX_AGE_MS = 60_000;
/** The least time between two calls: neither forged messages nor a function that fails cause more. */
const PAUSE_MS = 5_000;
/** How long one call may take. */
const TIMEOUT_MS = 5_000;

/**
 * Provides the keys of a receiver, by the rules of the option `secrets`. Deliveries that wait share one call of its function.
 * @param initial the secrets until the function's first answer
 * @throws WebhookSecretError if a secret given as a value is malformed
 */
export function keySource(
  secrets: Secrets | (() => Secrets | Promise<Secrets>),
  { now, initial, onError }: KeySourceOptions,
): KeySource {
  if (typeof secrets !== "function") {
    const keys = keysOf(secrets);
    return { current: () => keys, afterMismatch: () => keys };
  }
  const read = secrets;
  let keys: Keys = initial === undefined ? undefined : keysOf(initial);
  let askedAt = Number.NEGATIVE_INFINITY;
  let goodAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<Keys> | undefined;

  async function ask(): Promise<Keys> {
    const startedAt = now();
    askedAt = startedAt;
    try {
      keys = keysOf(await inTime("Reading the webhook secrets", TIMEOUT_MS, Promise.resolve().then(read)));
      goodAt = startedAt;
    } catch (error) {
      onError(error);
    } finally {
      asking = undefined;
    }
    return keys;
  }

  // A clock that was set back or fails counts as old: calling the function once too often is harmless.
  function isOlder(time: number, milliseconds: number): boolean {
    const age = now() - time;
    return !(age >= 0 && age < milliseconds);
  }

  function askAgain(): Keys | Promise<Keys> {
    // A call that has not ended by then counts as lost: in Cloudflare Workers, it ends with the request that started it.
    if (isOlder(askedAt, PAUSE_MS)) asking = ask();
    return asking ?? keys;
  }

  return { current: () => (isOlder(goodAt, MAX_AGE_MS) ? askAgain() : keys), afterMismatch: askAgain };
}
