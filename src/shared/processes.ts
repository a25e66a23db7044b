import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Names a process for ever: its number alone is given again, also in the next container of the same name. */
export interface ProcessName {
  readonly host: string;
  readonly pid: number;
  /** When it started; empty where the system does not tell. */
  readonly start: string;
  /** The engine that started it, where the system tells. A plugin outlives an engine that was killed (engine rule 35). */
  readonly engine?: Pick<ProcessName, "pid" | "start">;
}

/** How long a process of another host counts as living after its last sign, in milliseconds. Nothing here can ask that host. */
const FOREIGN_LIFE_MS = 15 * 60_000;

/** Of Linux, on all that Node.js runs on. */
const TICKS_PER_SECOND = 100;

let own: ProcessName | undefined;

/** Returns the name of this process. */
export function thisProcess(): ProcessName {
  if (own === undefined) {
    const engine = parentThatRuns("pulumi");
    const start = engine && startOf(engine.pid);
    own = { host: hostname(), pid: process.pid, start: startOf(process.pid) ?? "" };
    if (engine && start) own = { ...own, engine: { pid: engine.pid, start } };
  }
  return own;
}

export function isThisProcess({ host, pid, start }: ProcessName): boolean {
  const name = thisProcess();
  return pid === name.pid && host === name.host && start === name.start;
}

/** Returns whether a process is alive. @param sign when it last showed that, in milliseconds since 1970 */
export function isAlive(name: ProcessName, sign: number): boolean {
  const { host, pid, start } = name;
  if (isThisProcess(name)) return true;
  if (host !== hostname()) return Date.now() - sign < FOREIGN_LIFE_MS;
  const actual = startOf(pid);
  return actual !== undefined && (start === "" || actual === "" || actual === start);
}

/** Returns whether a process is alive, and so is the engine that it works for. @param sign as above */
export function isAtWork(name: ProcessName, sign: number): boolean {
  const { engine, host } = name;
  return isAlive(name, sign) && (engine === undefined || isAlive({ host, ...engine }, sign));
}

/** Returns when a process of this host started: an empty string where the system does not tell, undefined when there is none. */
function startOf(pid: number): string | undefined {
  if (process.platform === "linux") return startOnLinux(pid);
  const { status, stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  if (status === 0) return stdout.trim();
  try {
    process.kill(pid, 0);
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "" : undefined;
  }
}

/** Ticks since the machine started, and which start of the machine that was. A zombie has ended. */
function startOnLinux(pid: number): string | undefined {
  try {
    const { state, ticks } = statOf(pid);
    if (state === "Z") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${ticks}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns when the nearest parent of this process that runs such a command was started, in milliseconds since 1970. Undefined where there
 * is none, or where the system does not tell.
 */
export function startOfParent(command: string): number | undefined {
  return parentThatRuns(command)?.startedAt;
}

function parentThatRuns(command: string): { readonly pid: number; readonly startedAt: number } | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const machine = startOfMachine();
    for (let pid = process.ppid; pid > 0; ) {
      const { name, parent, ticks } = statOf(pid);
      // Nix puts a script in the place of a program, which starts it under such a name.
      if (name === command || name === `.${command}-wrapped`)
        return { pid, startedAt: machine + (Number(ticks) / TICKS_PER_SECOND) * 1_000 };
      pid = Number(parent);
    }
  } catch {
    // The parent has ended.
  }
  return undefined;
}

/**
 * Returns when this machine was started, in milliseconds since 1970, and rather too early than too late. `btime` has whole seconds, cut
 * off. The time since then is finer, but in some containers it is that of the container.
 */
function startOfMachine(): number {
  const now = Date.now();
  const [seconds] = readFileSync("/proc/uptime", "utf8").split(" ");
  const exact = now - Number(seconds) * 1_000;
  const cutOff = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]) * 1_000;
  return exact >= cutOff && exact < cutOff + 1_000 ? exact : cutOff;
}

/** `ticks`: from the start of the machine to that of the process. @throws if there is no such process, or no `/proc` */
function statOf(pid: number) {
  // The name can contain spaces and parentheses.
  const [, name, fields = ""] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  const [state, parent, ...rest] = fields.split(" ");
  return { name, state, parent, ticks: rest[17] };
}
