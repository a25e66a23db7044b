import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createFolder } from "../shared/createFolder";

export function pulumiHome({ PULUMI_HOME }: NodeJS.ProcessEnv): string {
  return resolve(PULUMI_HOME || join(homedir(), ".pulumi"));
}

/** The same for a command that needs no engine, so that PULUMI_HOME may be missing: it makes it. */
export function madePulumiHome(environment: NodeJS.ProcessEnv): string {
  const home = pulumiHome(environment);
  try {
    createFolder(home, 0o700);
  } catch {
    // Whoever writes below it says so.
  }
  return home;
}

/** The mode of a file that is private to the user, as are the folders made for it. */
export const PRIVATE = 0o600;

/** Makes a private file at once: nobody reads a part of it. */
export function makeFile(path: string, content: unknown): void {
  const temporary = join(dirname(path), `${randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, JSON.stringify(content), { mode: PRIVATE });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Makes a folder below PULUMI_HOME. @throws Error if PULUMI_HOME itself is missing: it is the engine's, and stays removed */
export function makeFolder(home: string, path: string): void {
  if (!existsSync(home)) throw new Error(`${home} does not exist`);
  createFolder(path, 0o700);
}

/** Returns the names in a folder; none if there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export function hashOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);
}
