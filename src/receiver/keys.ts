import type { MacKey } from "../signature/mac";
import { keysOf } from "../signature/secret";
import { within } from "./deadline";
import type { Secrets } from "./types";

export interface KeySource {
  /** The keys to verify with; undefined when the secrets could never be read. */
  current(): Keys | Promise<Keys>;
  /** After a mismatch: other keys, should the secrets have changed just now; otherwise the same array. */
  afterMismatch(): Keys | Promise<Keys>;
}
type Keys = readonly MacKey[] | undefined;

export interface KeySourceOptions {
  readonly now: () => number;
  /** Told of each time that the secrets cannot be read. */
  readonly onError: (error: unknown) => void;
}

/** How long an answer is good, and so how long a secret taken away is still accepted. */
const MAX_AGE_MS = 60_000;
/** How often a stranger's forged messages can make us ask: no more than once in this time. */
const MISMATCH_PAUSE_MS = 5_000;
/** How often a failing function is asked, once there is no good answer any more. */
const FAILURE_PAUSE_MS = 1_000;
const TIMEOUT_MS = 5_000;

/**
 * The keys of a receiver. Values are read at once. @throws WebhookSecretError
 *
 * A function is asked at the first delivery, when its last answer is a minute old, and on a signature that does not match
 * when the last answer is five seconds old: so a new secret counts at once, and a flood of forgeries is not passed on.
 * Deliveries that wait share one call, which has five seconds. When it fails, the last good answer stays in use, and nobody
 * waits until one succeeds again.
 */
export function keySource(
  secrets: Secrets | (() => Secrets | Promise<Secrets>),
  options: KeySourceOptions,
): KeySource {
  if (typeof secrets !== "function") {
    const keys = keysOf(secrets);
    return { current: () => keys, afterMismatch: () => keys };
  }
  const { now, onError } = options;
  let keys: Keys;
  let askedAt = Number.NEGATIVE_INFINITY;
  let goodAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let asking: Promise<Keys> | undefined;

  async function ask(read: () => Secrets | Promise<Secrets>): Promise<Keys> {
    askedAt = now();
    try {
      keys = keysOf(await within(TIMEOUT_MS, "Reading the webhook secrets", Promise.resolve().then(read)));
      goodAt = askedAt;
      failed = false;
    } catch (error) {
      failed = true;
      onError(error);
    }
    asking = undefined;
    return keys;
  }

  function askUnlessAskedFor(read: () => Secrets | Promise<Secrets>, pauseMs: number): Keys | Promise<Keys> {
    if (asking === undefined && isOlder(askedAt, pauseMs)) asking = ask(read);
    return asking ?? keys;
  }

  // A clock that was set back counts as old: better to ask once too often.
  function isOlder(time: number, milliseconds: number): boolean {
    const age = now() - time;
    return age < 0 || age >= milliseconds;
  }

  return {
    current() {
      if (!isOlder(goodAt, MAX_AGE_MS)) return keys;
      const answer = askUnlessAskedFor(secrets, FAILURE_PAUSE_MS);
      return failed && keys !== undefined ? keys : answer;
    },
    afterMismatch: () => askUnlessAskedFor(secrets, MISMATCH_PAUSE_MS),
  };
}
