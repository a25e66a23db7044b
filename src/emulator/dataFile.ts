import { readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { EmulatedEndpoint, EmulatedEndpointType } from "./endpoint";
import { EmulatorError } from "./errors";

/** The signing secrets of each endpoint type, newest first. */
export type SecretsByType = Readonly<Record<EmulatedEndpointType, readonly string[]>>;

/** What survives a restart. A file written by an older version has only `accounts`. */
export interface SavedData {
  readonly apiKey?: string;
  readonly secrets?: SecretsByType;
  readonly accounts: Readonly<Record<string, readonly EmulatedEndpoint[]>>;
}

/** Where an emulator keeps its data. */
export interface Storage {
  /** Starts to save the current data in the background. */
  changed(): void;
  /** Resolves when every change made so far is saved. @throws EmulatorError when it cannot be saved */
  saved(): Promise<void>;
}

/** Keeps nothing across restarts. */
export const MEMORY: Storage = { changed: () => undefined, saved: async () => undefined };

/** Reads a data file. A missing file holds no endpoints. @throws EmulatorError when the file cannot be read */
export function loadDataFile(path: string): SavedData {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return { accounts: {} };
    throw unreadable(path, "it cannot be opened", cause);
  }
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
 * write. Only one emulator may use a file: two would overwrite each other.
 */
export class DataFile implements Storage {
  #dirty = false;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;

  constructor(
    private readonly path: string,
    private readonly snapshot: () => SavedData,
  ) {}

  changed(): void {
    this.#dirty = true;
    // If this write fails, saved() tries again and throws.
    this.saved().catch(() => undefined);
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
    const temporary = `${this.path}.tmp`;
    try {
      await makeFolder(dirname(this.path));
      await rm(temporary, { force: true });
      await writeFile(temporary, `${content}\n`, { mode: 0o600, flag: "wx" });
      await rename(temporary, this.path);
    } catch (cause) {
      this.#dirty = true;
      throw new EmulatorError(
        "EMULATOR_DATA_FILE",
        `Cannot write the emulator's data file ${this.path} (${codeOf(cause)}). Check that its folder is writable and has space.`,
        { cause },
      );
    }
  }
}

/** Creates a folder and its parents. Node's own recursive mkdir loops forever in some unwritable places, such as /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) === "ENOENT" && parent !== path) {
      await makeFolder(parent);
      await mkdir(path);
    }
    // Otherwise the folder exists already, or writing the file fails and says why.
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function unreadable(path: string, problem: string, cause?: unknown): EmulatorError {
  return new EmulatorError(
    "EMULATOR_DATA_FILE",
    `Cannot read the emulator's data file ${path}: ${problem}. Fix it, or remove it to start with no endpoints.`,
    cause === undefined ? undefined : { cause },
  );
}

function isData(data: unknown): data is SavedData {
  if (!isRecord(data) || data.version !== 1 || !isRecord(data.accounts)) return false;
  const { apiKey, secrets } = data;
  if (apiKey !== undefined && typeof apiKey !== "string") return false;
  if (secrets !== undefined && !isSecrets(secrets)) return false;
  return Object.values(data.accounts).every((list) => Array.isArray(list) && list.every(isEndpoint));
}

function isEndpoint(value: unknown): value is EmulatedEndpoint {
  if (!isRecord(value)) return false;
  const strings = [value.id, value.url, value.createdAt, value.updatedAt];
  return (
    strings.every((each) => typeof each === "string") &&
    (value.type === "production" || value.type === "development") &&
    (value.ip === undefined || typeof value.ip === "string")
  );
}

function isSecrets(value: unknown): value is SecretsByType {
  if (!isRecord(value)) return false;
  return [value.production, value.development].every(
    (list) => Array.isArray(list) && list.length > 0 && list.every((secret) => typeof secret === "string"),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
