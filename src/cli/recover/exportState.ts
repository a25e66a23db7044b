import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ExportedStack } from "../../settlement/deployment";
import { programFolder, projectFile } from "../../settlement/stackName";
import { type Pulumi, pulumiFailed } from "../pulumi";
import type { Dialogue } from "./dialogue";

const COMMAND = ["stack", "export", "--show-secrets"];

/**
 * Returns the stack's state with its secrets decrypted: a url may be one. A kill can leave an empty attributes file
 * in a file backend, and then no command can read the state (engine rule 26): those files are removed if `mayRemove` agrees.
 *
 * @returns undefined when `mayRemove` refused
 */
export async function exportState(
  pulumi: Pulumi,
  during: Dialogue["during"],
  mayRemove: (files: readonly string[]) => Promise<boolean>,
): Promise<ExportedStack | undefined> {
  const result = await during(() => "Reading the state of the stack…", pulumi.run(COMMAND));
  if (result.exitCode === 0) return pulumi.parse(COMMAND, result.stdout);
  const empty = /\bEOF\b/.test(result.stderr) ? await emptyAttributesFiles(pulumi) : [];
  if (empty.length === 0) throw pulumiFailed(COMMAND, result);
  if (!(await mayRemove(empty))) return undefined;
  for (const file of empty) rmSync(file, { force: true });
  return pulumi.json(COMMAND);
}

/** Returns the empty attributes files of a file backend; none for any other backend. */
async function emptyAttributesFiles(pulumi: Pulumi): Promise<string[]> {
  const { url = "" } = await pulumi.json<{ url?: string }>(["whoami", "--json"], { ofStack: false });
  const [, place] = /^file:\/\/([^?]*)/.exec(url) ?? [];
  if (place === undefined) return [];
  // A relative one counts from the project's folder.
  const backend = resolve(
    dirname(projectFile(programFolder(process.env)) ?? ""),
    decodeURI(place).replace(/^~/, homedir()),
    ".pulumi",
  );
  if (!existsSync(backend)) return [];
  return readdirSync(backend, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".attrs"))
    .map((name) => join(backend, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.size === 0);
}
