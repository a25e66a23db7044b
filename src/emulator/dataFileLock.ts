import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { parseJson } from "../shared/json";
import { isAlive, isThisProcess, type ProcessName, thisProcess } from "../shared/processes";
import { EmulatorError } from "./errors";

/** What a lock file says about the emulator that uses the data file. */
interface Holder extends ProcessName {
  readonly token: string;
  /** Undefined while the emulator starts. */
  readonly url?: string | undefined;
}

/** How each lock begins. */
const LOCK_START = '{"token":"';

/** The locks of this process, whichever copy of this module took them. */
const HELD_KEY = Symbol.for("pulumi-webhook-endpoints.emulator.locks");
const shared = globalThis as { [HELD_KEY]?: Set<string> };
shared[HELD_KEY] ??= new Set();
const HELD = shared[HELD_KEY];

/**
 * Keeps a second emulator of this machine off a data file, since each would overwrite the other's data. The lock is a file beside
 * the data file. The lock of a process that is gone, killed for example, does not count.
 */
export class DataFileLock {
  readonly #token = randomUUID();
  readonly #path: string;
  /** A file that only this emulator writes. */
  readonly #own: string;

  constructor(private readonly dataFile: string) {
    this.#path = `${dataFile}.lock`;
    this.#own = `${this.#path}.${this.#token}`;
  }

  /** Takes the lock. @throws EmulatorError when an emulator holds it, and the file system's error when it cannot be written */
  async take(): Promise<void> {
    HELD.add(this.#token);
    try {
      for (;;) {
        const found = await this.#read(this.#path);
        const holder = parsed(found);
        if (found !== undefined && !isLock(found)) throw notOurs(this.dataFile, this.#path);
        if (isHolding(holder)) throw inUse(this.dataFile, this.#path, holder);
        if (found !== undefined) await this.#moveAway(found);
        if (await this.#create()) return;
      }
    } catch (error) {
      HELD.delete(this.#token);
      throw error;
    }
  }

  /** Records the address, for the message to a second emulator. Never fails: without it, that message names the process. */
  async publish(url: string): Promise<void> {
    await writeFile(this.#own, this.#content(url), { mode: 0o600 })
      .then(() => rename(this.#own, this.#path))
      .catch(() => undefined);
  }

  /** Gives the lock back. Never fails: a lock that stays does not count once this process is gone. */
  async release(): Promise<void> {
    if (!HELD.delete(this.#token)) return;
    const found = await this.#read(this.#path).catch(() => undefined);
    if (parsed(found).token === this.#token) await rm(this.#path, { force: true }).catch(() => undefined);
  }

  /** Creates the lock with its content in one step, so that nobody reads half of it. */
  async #create(): Promise<boolean> {
    await writeFile(this.#own, this.#content(), { mode: 0o600 });
    try {
      await link(this.#own, this.#path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    } finally {
      await rm(this.#own, { force: true });
    }
  }

  /** Removes an old lock. Another emulator can have replaced it in the meantime: that one is put back. */
  async #moveAway(old: string): Promise<void> {
    try {
      await rename(this.#path, this.#own);
      if ((await this.#read(this.#own)) !== old) await link(this.#own, this.#path);
    } catch {
      // The next round finds what is there now.
    } finally {
      await rm(this.#own, { force: true });
    }
  }

  async #read(path: string): Promise<string | undefined> {
    return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
  }

  #content(url?: string): string {
    const holder: Holder = { token: this.#token, ...thisProcess(), url };
    return `${JSON.stringify(holder)}\n`;
  }
}

/** Returns what a lock file says. A missing or malformed one names nobody. */
function parsed(content: string | undefined): Partial<Holder> {
  return Object(parseJson(content ?? ""));
}

/** Whether an emulator wrote this. A crash of the machine can cut a lock off, or leave zeros. */
function isLock(content: string): boolean {
  const start = content.replaceAll("\0", "").slice(0, LOCK_START.length);
  return LOCK_START.startsWith(start) || typeof parsed(content).pid === "number";
}

function isHolding({ token = "", host = "", pid = 0, start = "" }: Partial<Holder>): boolean {
  const name = { host, pid, start };
  // The lock of another host counts as left: a container that was killed must not block the next one.
  return isThisProcess(name) ? HELD.has(token) : isAlive(name, 0);
}

function inUse(dataFile: string, lock: string, { pid, url }: Partial<Holder>): EmulatorError {
  const where = typeof url === "string" ? `at ${url} (process ${pid})` : `that is starting (process ${pid})`;
  return new EmulatorError(
    "EMULATOR_DATA_FILE_IN_USE",
    `Cannot use the emulator's data file ${dataFile}: it belongs to the emulator ${where}. Use that one, stop it, or choose another file. If that process is not an emulator, remove ${lock}.`,
  );
}

function notOurs(dataFile: string, lock: string): EmulatorError {
  return new EmulatorError(
    "EMULATOR_DATA_FILE",
    `Cannot use the emulator's data file ${dataFile}: ${lock} is not a lock of an emulator. Move it away, or choose another data file.`,
  );
}
