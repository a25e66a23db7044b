import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Operation } from "../provider/fakeService";
import { type HttpService, inWorld, type World } from "./httpService";
import type { Project, ProjectOptions } from "./project";

/** How long the service takes to answer a registration of a run that is ended, in milliseconds. */
export const SLOW_MS = 300;

/** Ends a command that began a session. */
export type End = (cli: ChildProcess) => Promise<void> | void;

/** Kills the processes of the command whose command line has this. The engine gives each plugin a process group of its own. */
function kill({ pid }: ChildProcess, pattern = /\d/): void {
  const { stdout } = spawnSync("ps", ["-s", `${pid}`, "-o", "pid=,args="], { encoding: "utf8" });
  const found = stdout.split("\n").filter((line) => pattern.test(line));
  spawnSync("kill", ["-KILL", ...found.flatMap((line) => /\d+/.exec(line) ?? [])]);
}

export const sigkill: End = (cli) => kill(cli);
export const sigkillOfTheEngine: End = ({ pid = 0 }) => {
  process.kill(pid, "SIGKILL");
};
export const sigkillOfTheGroup: End = ({ pid = 0 }) => {
  process.kill(-pid, "SIGKILL");
};
export const sigkillOfThePlugin: End = (cli) => kill(cli, /dynamic-provider\/index|pulumi-resource-webhooks/);
export const sigterm: End = ({ pid = 0 }) => {
  process.kill(pid, "SIGTERM");
};
export const ctrlC: End = ({ pid = 0 }) => {
  process.kill(-pid, "SIGINT");
};
export const ctrlCTwice: End = async (cli) => {
  await ctrlC(cli);
  await sleep(SLOW_MS);
  if (cli.exitCode === null) await ctrlC(cli);
};

/**
 * How long after an `up` was ended the service carries out what is late, in milliseconds: later than the second list, which any `up` asks
 * for five seconds after the first, and sooner than the end of the window.
 */
export const LATE_MS = 12_000;

/** What happens to the request at which an `up` is ended: it is lost, is carried out, or is carried out later. */
const WHEN = {
  before: { kind: "hang-before" },
  after: { kind: "late-response", delayMs: SLOW_MS },
  late: { kind: "late-commit", delayMs: LATE_MS },
} as const satisfies Readonly<Record<string, Partial<Fault>>>;
export type When = keyof typeof WHEN;

/** When an `up` is ended: at so many requests of an operation, which the service answers slowly. Default: once it has carried a registration out. */
export interface Moment {
  readonly request: number;
  readonly operation?: Operation | "any";
  readonly when?: When;
  /** More of the command line. */
  readonly flags?: readonly string[];
}

/** An `up` succeeded before the moment: it lists once more if it is slow. */
export class EndedBefore extends Error {
  override readonly name = "EndedBefore";
}

interface Interrupted {
  readonly project: Project;
  readonly service: HttpService;
}

/** Makes a service and a stack for a test that kills an `up`. */
export async function inInterruptedWorld<P extends Project>(
  Kind: new (options: ProjectOptions) => P,
  { config, ...options }: ProjectOptions,
  act: (world: World<P>) => Promise<void>,
): Promise<void> {
  // Twice as long, at least 20 s, an `up` waits for what a killed run may have sent.
  const limit = { "webhooks:timeoutSeconds": "10" };
  await inWorld(Kind, { config: { ...limit, ...config }, ...options }, async (world) => {
    // A kill can leave a file of attributes empty, and then no command can read the state (engine rule 26).
    world.project.env.PULUMI_BACKEND_URL += "?metadata=skip";
    await world.project.makeStack();
    await act(world);
  });
}

/** Starts an `up`, ends it as `interruptUp` does, and frees the stack. */
export async function endUp(world: Interrupted, registrations: number, end: End): Promise<void> {
  await interruptUp(world, { request: registrations }, end);
  await world.project.unlock();
}

/** Starts an `up`, ends it at a moment, and kills what outlives it. */
export async function interruptUp(world: Interrupted, moment: Moment, end: End): Promise<void> {
  const { killRest } = await interrupt(world, moment, end);
  killRest();
}

/** Starts an `up`, and ends it at a moment. Returns what kills the processes that outlive it. */
export async function interrupt(
  { project, service }: Interrupted,
  { request, operation = "register", when = "after", flags = [] }: Moment,
  end: End,
): Promise<{ killRest: () => void }> {
  service.fault({ operation, ...WHEN[when], after: request - 1 });
  service.fault({ operation, kind: "late-response", delayMs: SLOW_MS, times: 999 });
  let left = request;
  const arrived = new Promise<void>((resolve) => {
    service.watch = (seen, moment) => {
      const counts = operation === "any" || seen.operation === operation;
      if (counts && moment === "arrived" && --left === 0) resolve();
    };
  });
  const args = [
    "up",
    "--yes",
    "--skip-preview",
    "--non-interactive",
    "--color=never",
    "--parallel=4",
    ...flags,
  ];
  const options = { cwd: project.folder, env: project.env, detached: true, stdio: "ignore" } as const;
  const cli = spawn("pulumi", args, options);
  const ended = once(cli, "exit");
  const early = await Promise.race([arrived, ended]);
  if (early !== undefined) {
    service.clearFaults();
    throw early[0] === 0 ? new EndedBefore() : new Error(`up ended with ${early}`);
  }
  await end(cli);
  await ended;
  service.clearFaults();
  return { killRest: () => kill(cli) };
}
