import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parseJson } from "../../shared/json";
import { describeAge } from "../duration";
import type { Pulumi } from "../pulumi";
import type { Context } from "../run";

/** How far two exports are apart, in milliseconds. A run writes the state after each resource. */
const BETWEEN_EXPORTS_MS = 3_000;

/** Whether a run works on a stack. */
export interface Work {
  /**
   * - `under way`: a run works now
   * - `dead`: the stack is locked by a run of this machine that has ended
   * - `none`: nobody works on it
   * - `held elsewhere`: another machine's run has locked it, and may have ended
   * - `unknown`: nothing here can tell, as with a bucket
   */
  readonly kind: "under way" | "dead" | "none" | "held elsewhere" | "unknown";
  /** Whether a run may be registering endpoints. Of the unknown, an operation that has not ended tells. */
  readonly mayRun: boolean;
  /** Who works, or has locked the stack, and since when: the part of a sentence. "" if nobody says. */
  readonly who: string;
  /** For how long, in milliseconds; undefined if nobody says. */
  readonly forMs?: number | undefined;
}

type Holder = Omit<Work, "mayRun">;

/** A stack as `pulumi stack ls` lists it. Only Pulumi Cloud gives the last two. */
export interface ListedStack {
  readonly name: string;
  readonly current?: boolean;
  readonly updateInProgress?: boolean;
  readonly url?: string;
}

/** A stack, and what its state shows. */
export interface Questioned {
  readonly listed: ListedStack;
  /** Its name, without organization and project. */
  readonly stack: string;
  /** Undefined for the first run of a stack of this folder's project. */
  readonly project: string | undefined;
  /** Whether an operation in its state has not ended. */
  readonly hasOperations: boolean;
  /** Whether the state shows anything that a run may have left, or may be about to end. */
  readonly isOpen: boolean;
  /** Reads the state again, and returns whether it is another one. */
  readonly hasChanged: () => Promise<boolean>;
}

/** Finds out whether somebody is at work, for the stacks of one backend at one moment. */
export class WorkQuestion {
  readonly #context: Context;
  readonly #listAgain: () => Promise<readonly ListedStack[]>;
  #folder: Promise<string | undefined> | undefined;

  /** @param listAgain lists the same stacks anew */
  constructor(context: Context, listAgain: () => Promise<readonly ListedStack[]>) {
    this.#context = context;
    this.#listAgain = listAgain;
  }

  /** Asks after the state was read, because a run may have begun or ended since the stacks were listed. Never rejects. */
  async of(stack: Questioned): Promise<Work> {
    const holder = await this.#answerFor(stack).catch((): Holder => ({ kind: "unknown", who: "" }));
    const { kind } = holder;
    const mayRun =
      kind === "under way" || kind === "held elsewhere" || (kind === "unknown" && stack.hasOperations);
    return { ...holder, mayRun };
  }

  async #answerFor(stack: Questioned): Promise<Holder> {
    const holder = await this.#holderOf(stack);
    const isCertain = holder.kind === "under way" || holder.kind === "held elsewhere";
    if (isCertain || !stack.isOpen) return holder;
    // The run whose operations the state shows may have ended since. And a lock may be that of a container, whose processes nobody sees.
    if (holder.kind !== "none") await this.#context.pause(BETWEEN_EXPORTS_MS);
    return (await stack.hasChanged()) ? { kind: "under way", who: "its state has just changed" } : holder;
  }

  #holderOf(stack: Questioned): Promise<Holder> {
    const { updateInProgress, url } = stack.listed;
    return updateInProgress === undefined && url === undefined
      ? this.#holderOfLock(stack)
      : this.#holderInCloud(stack);
  }

  async #holderInCloud({ listed, isOpen }: Questioned): Promise<Holder> {
    const later = isOpen && !listed.updateInProgress ? await this.#listAgain() : [];
    const isUpdating = ({ name, updateInProgress }: ListedStack) => name === listed.name && updateInProgress;
    return [listed, ...later].some(isUpdating)
      ? { kind: "under way", who: await describeUpdate(this.#context.pulumi.forStack(listed.name)) }
      : { kind: "none", who: "" };
  }

  async #holderOfLock(stack: Questioned): Promise<Holder> {
    this.#folder ??= folderOf(this.#context);
    const folder = await this.#folder;
    if (folder === undefined) return { kind: "unknown", who: "" };
    const holders = await Promise.all((await locksIn(folder, stack)).map(holderOf));
    const kinds = ["under way", "held elsewhere", "unknown", "dead"] as const;
    const [first] = kinds.flatMap((kind) => holders.find((holder) => holder.kind === kind) ?? []);
    return first ?? { kind: "none", who: "" };
  }
}

/** Says who began the update of a stack in Pulumi Cloud, as far as its command prints it, and what frees the stack of a killed one. */
async function describeUpdate(pulumi: Pulumi): Promise<string> {
  const { stdout } = await pulumi.run(["stack"]).catch(() => ({ stdout: "" }));
  const [, began] = /^\s+Started: (.+)$/m.exec(stdout) ?? [];
  const [, author] = /^\s+Requested By: (.+)$/m.exec(stdout) ?? [];
  const known = [author && `requested by ${author}`, began && `started ${began}`].filter(Boolean);
  const freeing = `if it was killed, it holds the stack for five minutes, or until \`${pulumi.withStack("pulumi cancel --yes")}\``;
  return `${known.join(", ")}${known.length > 0 ? "; " : ""}${freeing}`;
}

/** Returns the folder with the states; undefined if the backend is not a folder, or another one than it seems. */
async function folderOf({ pulumi, env }: Context): Promise<string | undefined> {
  const { url = "" } = await pulumi.login();
  const [, path] = /^file:\/\/([^?]*)/.exec(url) ?? [];
  if (path === undefined) return undefined;
  const folder = resolve(env.PULUMI_OPTION_CWD ?? "", path.replace(/^~/, homedir()));
  return existsSync(join(folder, ".pulumi", "stacks")) ? folder : undefined;
}

/** Returns the paths of a stack's locks. A backend of an older Pulumi has them without organization and project. */
async function locksIn(folder: string, { stack, project }: Questioned): Promise<string[]> {
  const locks = join(folder, ".pulumi", "locks");
  const organization = join(locks, "organization");
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

/** Returns what a message says of a run that may be under way. */
export function describeWork(stack: string, { kind, who }: Pick<Work, "kind" | "who">): string {
  const known = who && `: ${who}`;
  if (kind === "under way") return `a run of the stack ${stack} is under way${known}`;
  if (kind === "held elsewhere")
    return `the stack ${stack} is locked, and only that machine knows whether the run still works${known}`;
  return `a run of the stack ${stack} may be under way`;
}
