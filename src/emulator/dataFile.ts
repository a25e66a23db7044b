import { readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { EmulatedEndpoint } from "./endpoint";
import { EmulatorError } from "./errors";

export type EndpointsByAccount = Readonly<Record<string, readonly EmulatedEndpoint[]>>;

/** Reads a data file. A missing file holds no endpoints. @throws EmulatorError when the file cannot be read */
export function loadDataFile(path: string): EndpointsByAccount {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw unreadable(path, "it cannot be opened", cause);
  }
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw unreadable(path, "it is not JSON", cause);
  }
  if (!isData(data)) throw unreadable(path, "it is not a data file of version 1");
  return data.accounts;
}

/**
 * Keeps a snapshot in a file. Each write goes to a temporary file that is then renamed, so that a reader, even after a
 * kill, sees either the old or the new content. Changes made during a write share the next write. Only one emulator may
 * use a file: two would overwrite each other.
 */
export class DataFile {
  #dirty = false;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;

  constructor(
    private readonly path: string,
    private readonly snapshot: () => EndpointsByAccount,
  ) {}

  changed(): void {
    this.#dirty = true;
  }

  /** Resolves when the file holds every change made so far. @throws EmulatorError when it cannot be written */
  flush(): Promise<void> {
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
    const text = JSON.stringify({ version: 1, accounts: this.snapshot() }, undefined, 1);
    const neighbour = `${this.path}.tmp`;
    try {
      await mkdir(dirname(this.path), { recursive: true });
      await writeFile(neighbour, `${text}\n`, { mode: 0o600 });
      await rename(neighbour, this.path);
    } catch (cause) {
      this.#dirty = true;
      throw new EmulatorError(
        "EMULATOR_DATA_FILE",
        `Cannot write the emulator's data file ${this.path}. Check that its folder is writable and has space.`,
        { cause },
      );
    }
  }
}

function unreadable(path: string, problem: string, cause?: unknown): EmulatorError {
  return new EmulatorError(
    "EMULATOR_DATA_FILE",
    `Cannot read the emulator's data file ${path}: ${problem}. Fix it, or remove it to start with no endpoints.`,
    cause === undefined ? undefined : { cause },
  );
}

function isData(data: unknown): data is { accounts: EndpointsByAccount } {
  if (!isRecord(data) || data.version !== 1 || !isRecord(data.accounts)) return false;
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
