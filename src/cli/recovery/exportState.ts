import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Pulumi, pulumiFailed } from "../pulumi";

/**
 * Returns the stack's state as `pulumi stack export` prints it, secrets encrypted. A kill can leave an empty attributes file
 * in a file backend, and then no command can read the state (engine rule 26): those files are removed if `mayRemove` agrees.
 *
 * @returns undefined when `mayRemove` refused
 */
export async function exportState(
  pulumi: Pulumi,
  mayRemove: (files: readonly string[]) => Promise<boolean>,
): Promise<string | undefined> {
  const command = ["stack", "export"];
  const result = await pulumi.run(command);
  if (result.exitCode === 0) return result.stdout;
  const empty = /\bEOF\b/.test(result.stderr) ? await emptyAttributesFiles(pulumi) : [];
  if (empty.length === 0) throw pulumiFailed(command, result);
  if (!(await mayRemove(empty))) return undefined;
  for (const file of empty) rmSync(file, { force: true });
  return pulumi.output(command);
}

/** Returns the empty attributes files of a file backend; none for any other backend. */
async function emptyAttributesFiles(pulumi: Pulumi): Promise<string[]> {
  const { url = "" } = await pulumi.json<{ url?: string }>(["whoami", "--json"], { ofStack: false });
  if (!url.startsWith("file://")) return [];
  const { pathname } = new URL(url.replace("file://~", `file://${process.env.HOME ?? ""}`));
  const backend = join(fileURLToPath(`file://${pathname}`), ".pulumi");
  if (!existsSync(backend)) return [];
  return readdirSync(backend, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".attrs"))
    .map((name) => join(backend, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.size === 0);
}
