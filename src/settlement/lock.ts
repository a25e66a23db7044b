import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "../client/clock";
import { isAlive, type ProcessName, thisProcess } from "../shared/processes";
import { makeFile, makeFolder, namesIn } from "./files";

/** Between two tries, in milliseconds. Two processes that try at once give way for different times. */
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

interface LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called once if another process has the lock. */
  readonly onWait: () => void;
}

/**
 * Locks that one process of this machine holds at a time. To take a lock, a process puts a claim into the folder, under a name
 * that is never used again, and looks for the claims of others: it has the lock if it sees none, and gives way otherwise. Of two
 * claims, at least one is seen by the other's process. A claim of a dead process counts for nothing, so nobody has to take it over.
 */
export class Locks {
  readonly #home: string;
  readonly #folder: string;

  constructor(home: string) {
    this.#home = home;
    this.#folder = join(home, "webhook-endpoints", "locks");
  }

  /**
   * Takes a lock, and returns a function that gives it back; `"aborted"` if the signal fired first.
   *
   * @throws Error if the folder cannot be written
   */
  async take(key: string, { clock, signal, onWait }: LockOptions): Promise<(() => void) | "aborted"> {
    makeFolder(this.#home, this.#folder);
    const own = `${key}.${randomUUID()}`;
    const claim = join(this.#folder, own);
    const isRival = (name: string) => name.startsWith(`${key}.`) && name !== own;
    for (let tries = 0; ; tries++) {
      makeFile(claim, thisProcess());
      const release = () => rmSync(claim, { force: true });
      const rivals = namesIn(this.#folder).filter(isRival);
      if (!rivals.some((name) => this.#isHeld(join(this.#folder, name)))) return release;
      release();
      if (tries === 1) onWait();
      const pauseMs = SHORTEST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS);
      if ((await sleep(pauseMs, { clock, signal })) === "aborted") return "aborted";
    }
  }

  #isHeld(path: string): boolean {
    try {
      const owner: ProcessName = JSON.parse(readFileSync(path, "utf8"));
      if (typeof owner.host === "string" && isAlive(owner, statSync(path).mtimeMs)) return true;
      rmSync(path);
      return false;
    } catch {
      return false; // It was given back meanwhile.
    }
  }
}
