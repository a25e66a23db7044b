import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpService } from "./httpService";
import type { Project } from "./project";

/** How long the service takes to answer a registration of a run that is ended, in milliseconds. */
export const SLOW_MS = 300;

/** Ends a command that began a session. */
type End = (cli: ChildProcess) => Promise<void> | void;

/** Kills the processes of the command whose command line contains a string. The engine gives each plugin a process group of its own. */
function kill({ pid }: ChildProcess, text = ""): void {
  const { stdout } = spawnSync("ps", ["-s", `${pid}`, "-o", "pid=,args="], { encoding: "utf8" });
  const found = stdout.split("\n").filter((line) => line.includes(text));
  spawnSync("kill", ["-KILL", ...found.flatMap((line) => /\d+/.exec(line) ?? [])]);
}

export const sigkill: End = (cli) => kill(cli);
export const sigkillOfTheEngine: End = ({ pid = 0 }) => {
  process.kill(pid, "SIGKILL");
};
export const sigkillOfThePlugin: End = (cli) => kill(cli, "dynamic-provider/index");
export const ctrlC: End = ({ pid = 0 }) => {
  process.kill(-pid, "SIGINT");
};
export const ctrlCTwice: End = async (cli) => {
  await ctrlC(cli);
  await sleep(SLOW_MS);
  if (cli.exitCode === null) await ctrlC(cli);
};

interface Interrupted {
  readonly project: Project;
  readonly service: HttpService;
}

/** Starts an `up`, ends it as `interruptUp` does, and frees the stack. */
export async function endUp(world: Interrupted, registrations: number, end: End): Promise<void> {
  await interruptUp(world, registrations, end);
  await world.project.unlock();
}

/**
 * Starts an `up`, and ends it once so many registrations have arrived at a slow service, or so many deletions.
 *
 * @param operation what is counted, and slow
 */
export async function interruptUp(
  { project, service }: Interrupted,
  requests: number,
  end: End,
  operation: "register" | "delete" = "register",
): Promise<void> {
  service.fault({ operation, kind: "late-response", delayMs: SLOW_MS, times: 999 });
  let left = requests;
  const arrived = new Promise<void>((resolve) => {
    service.watch = (request, moment) => {
      if (request.operation === operation && moment === "arrived" && --left === 0) resolve();
    };
  });
  const args = ["up", "--yes", "--skip-preview", "--non-interactive", "--color=never", "--parallel=4"];
  const options = { cwd: project.folder, env: project.env, detached: true, stdio: "ignore" } as const;
  const cli = spawn("pulumi", args, options);
  const ended = once(cli, "exit");
  const early = await Promise.race([arrived, ended]);
  if (early !== undefined) throw new Error(`up ended with ${early}`);
  await end(cli);
  await ended;
  kill(cli);
  service.clearFaults();
}
