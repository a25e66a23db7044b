import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Pulumi, pulumiFailed } from "./pulumi";

/**
 * The stack's state as `pulumi stack export` prints it, secrets encrypted. A kill can leave a file backend with an empty
 * file of attributes beside a whole checkpoint, and then no command can read it any more (engine rule 26): `mayRemove` is
 * asked before those are removed.
 *
 * @returns undefined when they must not be removed
 */
export async function exportState(
  pulumi: Pulumi,
  mayRemove: (files: readonly string[]) => Promise<boolean>,
): Promise<string | undefined> {
  const command = ["stack", "export"];
  const result = await pulumi.run(command);
  if (result.exitCode === 0) return result.stdout;
  const empty = /\bEOF\b/.test(result.stderr) ? await emptyAttributes(pulumi) : [];
  if (empty.length === 0) throw pulumiFailed(command, result);
  if (!(await mayRemove(empty))) return undefined;
  for (const file of empty) rmSync(file, { force: true });
  return pulumi.output(command);
}

/** The empty files of attributes in the backend's folder, when it is a folder. */
async function emptyAttributes(pulumi: Pulumi): Promise<string[]> {
  const { url = "" }: { url?: string } = JSON.parse(
    await pulumi.output(["whoami", "--json"], { ofStack: false }),
  );
  if (!url.startsWith("file://")) return [];
  const { pathname } = new URL(url.replace("file://~", `file://${process.env.HOME ?? ""}`));
  const backend = join(fileURLToPath(`file://${pathname}`), ".pulumi");
  if (!existsSync(backend)) return [];
  return readdirSync(backend, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".attrs"))
    .map((name) => join(backend, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.size === 0);
}
