import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(__dirname, "../..");

/** Reads a file of the repository. */
export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Lists the files that the packed package holds, as npm itself lists them. */
export function packedFiles(): string[] {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const printed = execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(printed);
  return files.map(({ path }) => path);
}

/** Returns the lines of a page's shell blocks that are commands. */
export function commandsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^ *```sh\n(.*?)^ *```$/gms)]
    .flatMap(([, code = ""]) => code.split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** Returns a page without its code: neither blocks nor code spans. */
export function proseOf(markdown: string): string {
  return markdown.replace(/^ *```.*?^ *```$/gms, "").replace(/`[^`\n]+`/g, "code");
}
