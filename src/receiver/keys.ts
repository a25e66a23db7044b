import { keysOf } from "../signature/secret";
import { LATE, within } from "./deadline";
import type { Secrets } from "./types";

interface KeySource {
  /** The keys to verify with, or undefined if the secrets could never be read. */
  current(): Keys | Promise<Keys>;
  /** After a mismatch: other keys if the secrets have changed since, or the same array. */
  afterMismatch(): Keys | Promise<Keys>;
}
type Keys = readonly Uint8Array[] | undefined;

interface KeySourceOptions {
  /** Unix milliseconds, or NaN. */
  readonly now: () => number;
  /** The secrets at start-up, if they come from a function: in use until its first answer. */
  readonly initial?: Secrets | undefined;
  /** Called each time that the secrets cannot be read. */
  readonly onError: (error: unknown) => void;
}

/** How long an answer is used, and so how long a withdrawn secret is still accepted, unless the function fails. */
const MAX_AGE_MS = 60_000;
/** The least time between two calls that forged messages cause. */
const MISMATCH_PAUSE_MS = 5_000;
/** The least time between two calls of a function that fails, while no answer is recent. */
const FAILURE_PAUSE_MS = 1_000;
/** How long after a failure deliveries do not wait for the next answer. Later they do, as the secrets may have changed. */
const FAILING_MS = 2 * MAX_AGE_MS;
/** How long one call may take. */
const TIMEOUT_MS = 5_000;
/**
 * A call that takes longer counts as lost, and no delivery waits longer for one. In Cloudflare Workers, what a request has started ends with its
 * response, also a call that later requests wait for, and its timer.
 */
const LOST_MS = 2 * TIMEOUT_MS;

/**
 * Provides the keys of a receiver. Secrets given as values are read at once. @throws WebhookSecretError
 *
 * A function is called at the first delivery, when its last answer is a minute old, and on a signature that does not match when the
 * last answer is five seconds old: so a new secret is accepted at once, and a flood of forgeries does not reach the function.
 * Deliveries that wait share one call, which may take five seconds. When it fails, the last good answer stays in use, and while it
 * keeps failing no delivery waits for the next.
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
      const answer = await within(TIMEOUT_MS, Promise.resolve().then(read));
      if (answer === LATE) throw new Error(`Reading the webhook secrets took longer than ${TIMEOUT_MS} ms.`);
      keys = keysOf(answer);
      goodAt = askedAt;
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      failedAt = now();
      onError(error);
    }
    return keys;
  }

  function askUnlessAskedFor(read: () => Secrets | Promise<Secrets>, pauseMs: number): Keys | Promise<Keys> {
    const isLost = now() - askedAt > LOST_MS;
    if ((asking === undefined || isLost) && isOlder(askedAt, pauseMs)) {
      const call = ask(read).finally(() => {
        if (asking === call) asking = undefined;
      });
      asking = call;
    }
    return asking === undefined
      ? keys
      : within(LOST_MS, asking).then((answer) => (answer === LATE ? keys : answer));
  }

  // A clock that was set back or fails counts as old: calling the function once too often is harmless.
  function isOlder(time: number, milliseconds: number): boolean {
    const age = now() - time;
    return !(age >= 0 && age < milliseconds);
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
