import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isRecord, parseJson } from "../shared/json";
import { shown } from "../shared/masking";
import { EmulatorError } from "./emulatorError";
import type { EmulatedEndpoint } from "./registry";
import type { Secrets } from "./secrets";

/** What survives a restart. */
interface SavedData {
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
    throw failure("read", path, cause);
  }
  const data = parseJson(content);
  if (isRecord(data) && data.version === 1 && Array.isArray(data.endpoints) && isRecord(data.secrets))
    return data as unknown as SavedData;
  const problem = `The emulator's data file ${shown(path)} is not a data file of version 1.`;
  const message = `${problem} Fix it, or name a file that does not exist yet, to start with no endpoints.`;
  throw new EmulatorError("EMULATOR_DATA_FILE", message);
}

/**
 * Writes a data file that only its owner can read; on Windows, those who can read its folder can. The content goes to a temporary file
 * that is then renamed, so that a reader, even after a kill, sees either the old or the new content.
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
    throw failure("write", path, cause);
  }
}

function failure(verb: string, path: string, error: unknown): EmulatorError {
  // Not the cause: it repeats the path, and somebody may pass a key in its place.
  const { code } = error as NodeJS.ErrnoException;
  const message = `Cannot ${verb} the emulator's data file ${shown(path)} (${code}). Check that its folder exists, is writable and has space.`;
  return new EmulatorError("EMULATOR_DATA_FILE", message);
}
