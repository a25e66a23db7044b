import { type ChildProcess, execFileSync } from "node:child_process";

/**
 * Returns the processes of a command that was started detached, by their ids: it began a session. The engine gives each
 * plugin a process group of its own, so the command's group does not hold them.
 *
 * @param text that their command line holds
 */
export function processesOf({ pid }: ChildProcess, text = ""): number[] {
  return execFileSync("ps", ["-eo", "pid=,sid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .flatMap((match) => (match?.[2] === String(pid) && match[3]?.includes(text) ? [Number(match[1])] : []));
}

/** Kills processes, of which some may have ended meanwhile. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
