import type { Clock } from "../client/clock";
import { type Identity, keyHash } from "./identity";
import type { Locks } from "./lock";

export interface TurnsOptions {
  readonly clock: Clock;
  readonly cancelled: AbortSignal | undefined;
  /** Told when another process of this machine has its turn. */
  readonly onWait: (identity: Identity) => void;
  /** Told why no lock can be had: then only this process takes turns. */
  readonly onFailure: (error: unknown) => void;
}

/** Lets only one on this machine handle a url and type at a time: first in this process, then among all processes. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @param locks undefined without an engine: then no other process belongs to the run */
  constructor(
    private readonly locks: Locks | undefined,
    private readonly options: TurnsOptions,
  ) {}

  /** Runs work when it is its turn. Returns `"cancelled"` if the run was cancelled before. */
  take<T>(identity: Identity, work: () => Promise<T>): Promise<T | "cancelled"> {
    const key = keyHash(identity);
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(() => this.#locked(key, identity, work));
    const ended = turn.then(
      () => {},
      () => {},
    );
    this.#last.set(key, ended);
    return turn;
  }

  async #locked<T>(key: string, identity: Identity, work: () => Promise<T>): Promise<T | "cancelled"> {
    const { clock, cancelled, onWait, onFailure } = this.options;
    const release = await this.locks
      ?.take(key, { clock, signal: cancelled, onWait: () => onWait(identity) })
      .catch(onFailure);
    if (release === "aborted") return "cancelled";
    try {
      return await work();
    } finally {
      release?.();
    }
  }
}
