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
  /** What a function's secrets were when the program started: in use while it cannot give its first answer. */
  readonly initial?: Secrets | undefined;
  /** Told of each time that the secrets cannot be read. */
  readonly onError: (error: unknown) => void;
}

/** How long an answer is good, and so how long a secret taken away is still accepted, unless the function fails. */
const MAX_AGE_MS = 60_000;
/** How often a stranger's forged messages can make us ask: no more than once in this time. */
const MISMATCH_PAUSE_MS = 5_000;
/** How often a failing function is asked, once there is no good answer any more. */
const FAILURE_PAUSE_MS = 1_000;
/** How long after a failure nobody waits for the next answer. Later the secrets may have changed unseen, so a delivery does. */
const FAILING_MS = 2 * MAX_AGE_MS;
const TIMEOUT_MS = 5_000;

/**
 * The keys of a receiver. Values are read at once. @throws WebhookSecretError
 *
 * A function is asked at the first delivery, when its last answer is a minute old, and on a signature that does not match
 * when the last answer is five seconds old: so a new secret counts at once, and a flood of forgeries is not passed on.
 * Deliveries that wait share one call, which has five seconds. When it fails, the last good answer stays in use, and as long
 * as it keeps failing nobody waits for the next.
 */
export function keySource(
  secrets: Secrets | (() => Secrets | Promise<Secrets>),
  options: KeySourceOptions,
): KeySource {
  if (typeof secrets !== "function") {
    const keys = keysOf(secrets);
    return { current: () => keys, afterMismatch: () => keys };
  }
  const { now, onError, initial } = options;
  let keys: Keys = initial === undefined ? undefined : keysOf(initial);
  let askedAt = Number.NEGATIVE_INFINITY;
  let goodAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<Keys> | undefined;

  async function ask(read: () => Secrets | Promise<Secrets>): Promise<Keys> {
    askedAt = now();
    try {
      keys = keysOf(await within(TIMEOUT_MS, "Reading the webhook secrets", Promise.resolve().then(read)));
      goodAt = askedAt;
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      failedAt = now();
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
      return keys !== undefined && !isOlder(failedAt, FAILING_MS) ? keys : answer;
    },
    afterMismatch: () => askUnlessAskedFor(secrets, MISMATCH_PAUSE_MS),
  };
}
