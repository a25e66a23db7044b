import type { Clock } from "../client/clock";
import { type Identity, keyHash } from "./identity";
import { Locks } from "./lock";

interface TurnsOptions {
  readonly clock: Clock;
  readonly cancelled: AbortSignal | undefined;
  /** Told when another process of this machine has its turn. */
  readonly onWait: (identity: Identity) => void;
}

/** Lets only one on this machine handle a url and type at a time: first in this process, then among all processes. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #locks: Locks | undefined;

  /** @param home the engine's folder; undefined without an engine: then no other process belongs to the run */
  constructor(
    home: string | undefined,
    private readonly options: TurnsOptions,
  ) {
    this.#locks = home === undefined ? undefined : new Locks(home);
  }

  /** Runs work when it is its turn. Returns `"cancelled"` if the run was cancelled before. */
  take<T>(identity: Identity, work: () => Promise<T>): Promise<T | "cancelled"> {
    const key = keyHash(identity);
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(() => this.#locked(key, identity, work));
    const ended = turn.catch(() => {});
    this.#last.set(key, ended);
    return turn;
  }

  async #locked<T>(key: string, identity: Identity, work: () => Promise<T>): Promise<T | "cancelled"> {
    const { clock, cancelled, onWait } = this.options;
    const release = await this.#locks
      ?.take(key, { clock, signal: cancelled, onWait: () => onWait(identity) })
      // The book says what is wrong with the folder. Then only this process takes turns.
      .catch(() => undefined);
    if (release === "aborted") return "cancelled";
    try {
      return await work();
    } finally {
      release?.();
    }
  }
}
