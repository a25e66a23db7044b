import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HttpService } from "./httpService";
import { type Declared, Project } from "./project";

jest.setTimeout(600_000);

const COUNT = 24;
const SLOW_MS = 300;
/** Twice as long, at least 20 s, an `up` waits for what a killed run may have sent. */
const LIMIT = { "webhooks:timeoutSeconds": "10" };

const urlOf = (at: number) => `https://hooks.example.com/${at}`;
const endpoints = (count: number, args: object = {}): Declared =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`e${at}`, { url: urlOf(at), type: "production", ...args }]),
  );

interface World {
  readonly service: HttpService;
  readonly project: Project;
}

/** Makes a stack at a service of its own for a test. The tests run at once, because most of the time they wait. */
async function inWorld(act: (world: World) => Promise<void>, config: object = {}): Promise<void> {
  const service = await HttpService.start();
  const project = new Project({ config: { ...service.config, ...LIMIT, ...config } });
  // A kill can leave a file of attributes empty, and then no command can read the state (engine rule 26).
  project.env.PULUMI_BACKEND_URL += "?metadata=skip";
  try {
    await project.succeed("stack", "ls");
    await act({ service, project });
  } finally {
    project.dispose();
    await service.stop();
  }
}

/** Ends a command that began a session. */
type End = (cli: ChildProcess) => Promise<void> | void;

/** Kills the processes of the command whose command line contains a string. The engine gives each plugin a process group of its own. */
function kill({ pid }: ChildProcess, text = ""): void {
  const { stdout } = spawnSync("ps", ["-s", `${pid}`, "-o", "pid=,args="], { encoding: "utf8" });
  const found = stdout.split("\n").filter((line) => line.includes(text));
  spawnSync("kill", ["-KILL", ...found.flatMap((line) => /\d+/.exec(line) ?? [])]);
}

const sigkill: End = (cli) => kill(cli);
const sigkillOfThePlugin: End = (cli) => kill(cli, "dynamic-provider/index");
const ctrlC: End = ({ pid = 0 }) => {
  process.kill(-pid, "SIGINT");
};
const ctrlCTwice: End = async (cli) => {
  await ctrlC(cli);
  await sleep(SLOW_MS);
  if (cli.exitCode === null) await ctrlC(cli);
};

/** Starts an `up`, ends it once so many registrations have arrived at a slow service, and frees the stack. */
async function endUp({ project, service }: World, registrations: number, end: End): Promise<void> {
  service.fault({ operation: "register", kind: "late-answer", delayMs: SLOW_MS, times: 999 });
  let left = registrations;
  const arrived = new Promise<void>((resolve) => {
    service.watch = ({ operation }, moment) => {
      if (operation === "register" && moment === "arrived" && --left === 0) resolve();
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
  rmSync(join(project.folder, "backend/.pulumi/locks"), { recursive: true, force: true });
}

test.concurrent.each([
  ["three kills in a row", [1, 2, 3], sigkill],
  ["three kills, on another machine with an empty home", [4, 5, 6], sigkill],
  ["a late kill and three early ones", [7, 1, 2, 3], sigkill],
  ["Ctrl-C twice", [5], ctrlCTwice],
] as const)(
  "after %s, a plain up ends with exactly what is declared, and a stranger's equal endpoints stay",
  (kind, moments, end) =>
    inWorld(async (world) => {
      const { project, service } = world;
      // Another stack's, of the same url and type, registered before; after the window, one more.
      const strangers = [service.add({ url: urlOf(0), made: Date.now() - 3_600_000 })];
      const declared = endpoints(COUNT, { ifExists: "register" });
      project.declare(declared);
      for (const registrations of moments) await endUp(world, registrations, end);
      strangers.push(service.add({ url: urlOf(1), made: Date.now() + 3_600_000 }));
      if (kind.includes("another machine")) {
        rmSync(join(project.folder, "home"), { recursive: true, force: true });
        await project.succeed("stack", "select", "dev");
      }
      const output = await project.up();
      const said =
        /took over wh_\d+ \(https:\/\/hooks\.example\.com\/…\) that an interrupted run had registered/;
      if (end === sigkill) expect(output).toMatch(said);
      service.expectExactly(project, declared, strangers);
    }),
);

test.concurrent("after a kill of the plugin alone, the next up stops and names the ids, and adoptId goes on", () =>
  inWorld(async (world) => {
    const { project, service } = world;
    const declared = endpoints(3);
    project.declare(declared);
    await endUp(world, 3, sigkillOfThePlugin);
    const recorded = Object.values(project.ids());
    const lost = service.endpoints.filter(({ id }) => !recorded.includes(id));
    expect(lost).not.toEqual([]);
    const output = await project.failUp();
    expect(output).toMatch(/ENDPOINT_EXISTS/);
    expect(lost.some(({ id }) => output.includes(id))).toBe(true);
    const idOf = (url: unknown) => service.endpoints.find((each) => each.url === url)?.id;
    const adopted = Object.entries(declared).map(([name, args]) => [
      name,
      { ...args, adoptId: idOf(args.url) },
    ]);
    project.declare(Object.fromEntries(adopted));
    await project.up();
    service.expectExactly(project, declared);
  }));

test.concurrent("one Ctrl-C ends every wait, keeps what got no answer pending, and records what is answered", () =>
  inWorld(
    async (world) => {
      const { project, service } = world;
      project.declare(endpoints(3));
      // The one that has to wait comes last: the pause that it asks for would keep back whatever was not sent before.
      service.fault({ operation: "register", kind: "lost-before" });
      service.fault({ operation: "register", kind: "late-answer", delayMs: SLOW_MS });
      const headers = { "retry-after": "60" };
      service.fault({ operation: "register", kind: "status", status: 429, headers });
      const started = Date.now();
      await endUp(world, 3, ctrlC);
      expect(Date.now() - started).toBeLessThan(240_000);
      const recorded = Object.values(project.ids());
      expect(recorded.sort()).toEqual([expect.stringMatching(/^pending:/), service.endpoints[0]?.id]);
    },
    { "webhooks:timeoutSeconds": "300" },
  ));
