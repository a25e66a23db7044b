import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const NAME = "npx webhook-endpoints";
const PACKAGE = "pulumi-webhook-endpoints";
/** Where the package is not installed, npx would look for another package of the command's name. */
const ANYWHERE = `npx -p ${PACKAGE} webhook-endpoints`;

/** Returns what `asTypedIn` does for the folder that the process is in. */
export function asTyped(text: string): string {
  return asTypedIn(currentFolder(), text);
}

/** Returns the folder that the process is in, or the root if that folder was deleted: nothing is installed in it. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

/** Returns a message in which each use of the command works in a folder, also in that of a program in YAML or Python. */
export function asTypedIn(folder: string, text: string): string {
  return text.includes(NAME) && !isInstalledIn(folder) ? text.replaceAll(NAME, ANYWHERE) : text;
}

function isInstalledIn(folder: string): boolean {
  if (existsSync(join(folder, "node_modules", PACKAGE))) return true;
  return dirname(folder) !== folder && isInstalledIn(dirname(folder));
}
