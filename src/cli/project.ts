import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const NAMES: readonly string[] = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** Returns the folder of the Pulumi project that a folder is in, or undefined if it is in none. */
export function findProject(folder: string = process.cwd()): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (NAMES.some((name) => existsSync(join(at, name)))) return at;
    if (dirname(at) === at) return undefined;
  }
}
