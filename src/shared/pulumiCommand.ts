// Two imports, because the declarations must suit TypeScript 3.8, which has no inline types.
import type { SpawnOptions } from "node:child_process";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { masked } from "./masking";

/** How much of Pulumi's own error message is repeated, in characters. */
const MAX_QUOTED_LENGTH = 300;

export interface PulumiCommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The variables that may hide what Pulumi's command is asked for, so that what another stack manages would look like an orphan: all that
 * stand for an option, such as `PULUMI_OPTION_PROJECT`, except those that say where to look; and those that hide the warning of stacks
 * that the list leaves out.
 */
const HIDING =
  /^PULUMI_(OPTION_(?!(CWD|STACK|CONFIG_FILE|DISABLE_INTEGRITY_CHECKING)$)|(DIY_BACKEND|SELF_MANAGED_STATE)_NO_LEGACY_WARNING$)/i;

/**
 * Runs Pulumi's own command, without a prompt and without colors.
 *
 * @throws Error with the code `ENOENT` when there is no `pulumi` on PATH, or no such folder. A command that ran and failed
 * returns its exit code instead. Its output may hold secrets: do not repeat it unchecked.
 */
export async function runPulumi(
  args: readonly string[],
  { cwd, env = process.env, signal }: Pick<SpawnOptions, "cwd" | "env" | "signal"> = {},
): Promise<PulumiCommandResult> {
  const kept = Object.entries(env).filter(([name]) => !HIDING.test(name));
  const [program, ...first] = launcher(env);
  const child = spawn(program, [...first, ...args, "--non-interactive", "--color=never"], {
    cwd,
    signal,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Object.fromEntries(kept), PULUMI_SKIP_UPDATE_CHECK: "true" },
  });
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const [exitCode, stdout, stderr] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { exitCode, stdout, stderr };
}

/** The script that a command file of npm or pnpm runs, from the folder of that file. */
const LAUNCHED = /"%(?:dp0%|~dp0)\\([^"]+\.c?js)"\s+%\*/;

/**
 * Returns what starts Pulumi's command: on Windows, for the `pulumi.cmd` of a package manager, Node and the script that this file names.
 * Only a shell can run such a file, and a shell would obey some characters of the arguments.
 */
export function launcher(
  env: NodeJS.ProcessEnv,
  platform = process.platform,
): readonly [string, ...string[]] {
  if (platform !== "win32") return ["pulumi"];
  const [, path = ""] = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH") ?? [];
  for (const folder of path.split(";")) {
    if (existsSync(join(folder, "pulumi.exe"))) break;
    const file = join(folder, "pulumi.cmd");
    const [, script] = LAUNCHED.exec(existsSync(file) ? readFileSync(file, "utf8") : "") ?? [];
    if (script !== undefined) return [process.execPath, join(folder, script.replaceAll("\\", "/"))];
  }
  return ["pulumi"];
}

/** Quotes one error of what Pulumi printed: the whole may hold values of the stack. */
export function quotedError({ stderr, stdout }: PulumiCommandResult): string {
  const lines = (stderr.trim() || stdout.trim()).split(/[\r\n]+/);
  const line = lines.find((each) => each.startsWith("error: ")) ?? lines.at(-1) ?? "";
  return masked(line.replace(/^error: /, "")).slice(0, MAX_QUOTED_LENGTH);
}
