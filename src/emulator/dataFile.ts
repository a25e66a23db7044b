import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isRecord, parseJson } from "../shared/json";
import { EmulatorError } from "./errors";
import type { EmulatedEndpoint } from "./registry";
import type { Secrets } from "./secrets";

/** What survives a restart. */
export interface SavedData {
  readonly apiKey?: string;
  readonly secrets?: Secrets["byType"];
  readonly endpoints: readonly EmulatedEndpoint[];
}

/** Reads a data file. A missing file holds no endpoints. @throws EmulatorError when it cannot be used */
export function readData(path: string): SavedData {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return { endpoints: [] };
    throw failure(`Cannot read the emulator's data file ${path}`, cause);
  }
  const data = parseJson(content);
  if (isRecord(data) && data.version === 1 && Array.isArray(data.endpoints) && isRecord(data.secrets))
    return data as unknown as SavedData;
  const problem = `The emulator's data file ${path} is not a data file of version 1.`;
  const message = `${problem} Fix it, or name a file that does not exist yet, to start with no endpoints.`;
  throw new EmulatorError("EMULATOR_DATA_FILE", message);
}

/**
 * Writes a data file that only its owner can read. The content goes to a temporary file that is then renamed, so that a reader, even
 * after a kill, sees either the old or the new content.
 *
 * @throws EmulatorError
 */
export function writeData(path: string, data: SavedData): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const content = JSON.stringify({ version: 1, ...data }, undefined, 1);
    writeFileSync(temporary, `${content}\n`, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (cause) {
    throw failure(`Cannot write the emulator's data file ${path}`, cause);
  }
}

function failure(problem: string, cause: unknown): EmulatorError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `${problem} (${code}). Check that its folder exists, is writable and has space.`;
  return new EmulatorError("EMULATOR_DATA_FILE", message, { cause });
}
