import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parseJson } from "../../shared/json";
import { SELF_MANAGED } from "../../shared/urn";
import { describeAge } from "../duration";
import type { Context } from "../run";

/** Who holds a stack. */
export interface Holder {
  /**
   * - `under way`: a run works now
   * - `dead`: the stack is locked by a run of this machine that has ended
   * - `none`: nobody works on it
   * - `held elsewhere`: another machine's run has locked it, and may have ended
   * - `unknown`: nothing here can tell, as with a bucket
   */
  readonly kind: "under way" | "dead" | "none" | "held elsewhere" | "unknown";
  /** Who works, or has locked the stack, and since when: the part of a sentence. "" if nobody says. */
  readonly who: string;
  /** For how long, in milliseconds; undefined if nobody says. */
  readonly forMs?: number | undefined;
}

/** How a folder of states names a stack. */
export interface StackName {
  /** Its name, without organization and project. */
  readonly stack: string;
  /** Undefined for the first run of a stack of this folder's project. */
  readonly project: string | undefined;
}

/** Returns the folder with the states; undefined if the backend is not a folder, or another one than it seems. */
export async function folderOf({ pulumi, env }: Context): Promise<string | undefined> {
  const { url = "" } = await pulumi.login();
  const [, path] = /^file:\/\/([^?]*)/.exec(url) ?? [];
  if (path === undefined) return undefined;
  const folder = resolve(env.PULUMI_OPTION_CWD ?? "", path.replace(/^~/, homedir()));
  return existsSync(join(folder, ".pulumi", "stacks")) ? folder : undefined;
}

/** Returns who holds a stack, by its locks in the folder with the states: of several, whoever is most certainly at work. */
export async function holderOfLocks(folder: string, stack: StackName): Promise<Holder> {
  const holders = await Promise.all((await locksIn(folder, stack)).map(holderOf));
  const kinds = ["under way", "held elsewhere", "unknown", "dead"] as const;
  const [first] = kinds.flatMap((kind) => holders.find((holder) => holder.kind === kind) ?? []);
  return first ?? { kind: "none", who: "" };
}

/** Returns the paths of a stack's locks. A backend of an older Pulumi has them without organization and project. */
async function locksIn(folder: string, { stack, project }: StackName): Promise<string[]> {
  const locks = join(folder, ".pulumi", "locks");
  const organization = join(locks, SELF_MANAGED);
  const projects = project === undefined ? await namesIn(organization) : [project];
  const folders = [join(locks, stack), ...projects.map((each) => join(organization, each, stack))];
  const found = folders.map(async (each) => (await namesIn(each)).map((name) => join(each, name)));
  return (await Promise.all(found)).flat().filter((path) => path.endsWith(".json"));
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(undefinedIfMissing)) ?? [];
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Returns what a lock says. */
async function holderOf(path: string): Promise<Holder> {
  const text = await readFile(path, "utf8").catch(undefinedIfMissing);
  // It was removed meanwhile.
  if (text === undefined) return { kind: "none", who: "" };
  const { pid, username, hostname: host, timestamp } = (parseJson(text) ?? {}) as Record<string, unknown>;
  const began = Date.parse(String(timestamp));
  if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || typeof host !== "string" || Number.isNaN(began))
    return { kind: "unknown", who: "" };
  const forMs = Math.max(0, Date.now() - began);
  const since = `${new Date(began).toISOString().slice(0, 19)}Z (${describeAge(forMs)})`;
  const who = `the process ${pid} of ${username}@${host}, since ${since}`;
  if (host !== hostname()) return { kind: "held elsewhere", who, forMs };
  return { kind: (await isPulumi(Number(pid))) ? "under way" : "dead", who, forMs };
}

/** Returns whether a process of this machine is Pulumi's, as far as anybody can see: the system uses numbers again. */
async function isPulumi(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user is denied, and lives.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const [state = "", name] = (await stateAndNameOf(pid)) ?? [];
  return !/^[ZX]/.test(state) && (name === undefined || /pulumi/i.test(name));
}

/** Returns whether a process sleeps, runs or has ended, as a letter, and its name. Undefined where there is no `/proc` and no `ps`. */
async function stateAndNameOf(pid: number): Promise<readonly [state: string, name: string] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [, command, letter] = /\((.*)\) (\w)/s.exec(stat) ?? [];
  if (command !== undefined && letter !== undefined) return [letter, command];
  const ps = promisify(execFile)("ps", ["-p", String(pid), "-o", "stat=,comm="]);
  const { stdout } = await ps.catch(() => ({ stdout: "" }));
  const [, state, name] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? [];
  return state === undefined || name === undefined ? undefined : [state, name];
}
