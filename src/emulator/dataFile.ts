import { randomUUID } from "node:crypto";
import { readFile, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createFolder } from "../shared/createFolder";
import { DataFileLock } from "./dataFileLock";
import { EmulatorError } from "./errors";
import { isData, type SavedData } from "./savedData";

/** Where an emulator keeps its data. */
export interface Storage {
  /** Starts to save the current data in the background. */
  changed(): void;
  /** Resolves when every change made so far is saved. @throws EmulatorError when it cannot be saved */
  saved(): Promise<void>;
}

/** Keeps nothing across restarts. */
export const MEMORY: Storage = { changed: () => undefined, saved: async () => undefined };

/** A data file that no other emulator of this machine uses, until its lock is released. */
export interface OpenedDataFile {
  /** The path as given, for messages. */
  readonly path: string;
  /** The file itself: a symbolic link is followed, so that writing does not replace it. */
  readonly target: string;
  readonly lock: DataFileLock;
  readonly saved: SavedData;
}

/** Locks and reads a data file. A missing file holds no endpoints. @throws EmulatorError when it cannot be used */
export async function openDataFile(path: string): Promise<OpenedDataFile> {
  const target = await targetOf(path).catch((cause) => {
    throw unreadable(path, "it cannot be opened", cause);
  });
  const lock = new DataFileLock(target);
  try {
    createFolder(dirname(target));
    await lock.take();
  } catch (cause) {
    throw cause instanceof EmulatorError ? cause : unwritable(path, cause);
  }
  try {
    return { path, target, lock, saved: await load(path, target) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Follows symbolic links, also to a file that does not exist yet. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    const next = await readlink(path).catch(() => undefined);
    return next === undefined ? resolve(path) : targetOf(resolve(dirname(path), next));
  }
}

async function load(path: string, target: string): Promise<SavedData> {
  let content: string | undefined;
  try {
    // A pipe that nobody writes would never end.
    if ((await stat(target)).isFile()) content = await readFile(target, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return { accounts: {} };
    throw unreadable(path, "it cannot be opened", cause);
  }
  if (content === undefined) throw unreadable(path, "it is not a file");
  let data: unknown;
  try {
    data = JSON.parse(content);
  } catch (cause) {
    throw unreadable(path, "it is not JSON", cause);
  }
  if (!isData(data)) throw unreadable(path, "it is not a data file of version 1");
  return data;
}

/**
 * Keeps a snapshot in a file that only its owner can read. Each write goes to a temporary file that is then renamed, so
 * that a reader, even after a kill, sees either the old or the new content. Changes made during a write share the next
 * write.
 */
export class DataFile implements Storage {
  #dirty = true;
  #isFailing = false;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;

  constructor(
    private readonly file: OpenedDataFile,
    private readonly snapshot: () => SavedData,
    /** Told of the first of several failures. */
    private readonly warn: (message: string) => void,
  ) {}

  changed(): void {
    this.#dirty = true;
    // If this write fails, saved() tries again and throws.
    this.saved().then(
      () => {
        this.#isFailing = false;
      },
      (error: EmulatorError) => {
        if (!this.#isFailing) this.warn(error.message);
        this.#isFailing = true;
      },
    );
  }

  saved(): Promise<void> {
    if (this.#queued !== undefined) return this.#queued;
    if (!this.#dirty) return this.#running;
    const queued = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#running = queued;
        this.#queued = undefined;
        return this.#write();
      });
    this.#queued = queued;
    return queued;
  }

  async #write(): Promise<void> {
    this.#dirty = false;
    const content = JSON.stringify({ version: 1, ...this.snapshot() }, undefined, 1);
    const { path, target } = this.file;
    const temporary = `${target}.${randomUUID()}.tmp`;
    try {
      createFolder(dirname(target));
      await writeFile(temporary, `${content}\n`, { mode: 0o600, flag: "wx" });
      await rename(temporary, target);
    } catch (cause) {
      this.#dirty = true;
      await rm(temporary, { force: true }).catch(() => undefined);
      throw unwritable(path, cause);
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function unwritable(path: string, cause: unknown): EmulatorError {
  return new EmulatorError(
    "EMULATOR_DATA_FILE",
    `Cannot write the emulator's data file ${path} (${codeOf(cause)}). Check that its folder is writable and has space.`,
    { cause },
  );
}

function unreadable(path: string, problem: string, cause?: unknown): EmulatorError {
  return new EmulatorError(
    "EMULATOR_DATA_FILE",
    `Cannot read the emulator's data file ${path}: ${problem}. Fix it, or name a file that is not there yet, to start with no endpoints.`,
    { cause },
  );
}
