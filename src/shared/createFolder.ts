import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Creates a folder and its parents, unless it is there. Node's own recursive mkdir loops forever in some unwritable places, such as /proc. */
export function createFolder(path: string, mode = 0o777): void {
  const parent = dirname(path);
  if (create(path, mode) === undefined || parent === path) return;
  createFolder(parent, mode);
  const missing = create(path, mode);
  if (missing !== undefined) throw missing;
}

/** Returns an error if the parent is missing. Another process may create the folder at the same time. */
function create(path: string, mode: number): Error | undefined {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return error as Error;
    if (code !== "EEXIST" || !statSync(path).isDirectory()) throw error;
  }
  return undefined;
}
