import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Declared, Project } from "./project";
import { killAll, processesOf } from "./session";
import { TinyService } from "./tinyService";

jest.setTimeout(600_000);

/** After how many registrations a run is killed. `KILL_MOMENTS=10` tries ten moments of each kind. */
const moments = Array.from(
  { length: Number(process.env.KILL_MOMENTS ?? 1) },
  (_, index) => 1 + ((index * 7) % 20),
);
const count = 20;

let service: TinyService;
let project: Project;

beforeEach(async () => {
  service = await TinyService.start();
  project = newProject();
});
afterEach(async () => {
  project.dispose();
  await service.stop();
});

function newProject(env: Record<string, string> = {}): Project {
  const made = new Project({
    config: { "webhooks:baseUrl": service.url, "webhooks:apiKey": "k3y", "webhooks:timeoutSeconds": "5" },
    env,
  });
  // A kill can leave a file of attributes empty, and then no command can read the state (engine rule 26).
  made.env.PULUMI_BACKEND_URL += "?metadata=skip";
  return made;
}

const endpointsOf = (round: string): Declared =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `e${index}`,
      { url: `https://hooks.example.com/${round}/${index}`, type: "production" },
    ]),
  );

/** The URLs at the service, and those that the state holds under ids that the service has. */
async function found() {
  const recorded = Object.values(await project.endpoints());
  const at = new Map(service.endpoints.map((endpoint) => [endpoint.id, endpoint.url]));
  return {
    registered: service.endpoints.map(({ url }) => url).sort(),
    recorded: recorded.map(({ id = "" }) => at.get(id)).sort(),
  };
}

const urlsOf = (declared: Declared) => {
  const urls = Object.values(declared)
    .map(({ url }) => url)
    .sort();
  return { registered: urls, recorded: urls };
};

/** Starts an `up` in a process group of its own, and returns it once so many registrations have arrived. */
async function startUp(registrations: number): Promise<ChildProcess> {
  await project.succeed("stack", "ls");
  const before = service.registrations;
  const args = ["up", "--yes", "--skip-preview", "--non-interactive", "--color=never"];
  const child = spawn("pulumi", args, {
    cwd: project.folder,
    env: project.env,
    detached: true,
    stdio: "ignore",
  });
  while (service.registrations < before + registrations) {
    if (child.exitCode !== null)
      throw new Error(`up ended with ${child.exitCode} after ${service.registrations - before}`);
    await sleep(10);
  }
  return child;
}

const ended = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => child.once("exit", () => resolve()));

const kinds: Record<string, (child: ChildProcess) => Promise<void>> = {
  "SIGKILL of everything": async (child) => {
    killAll(processesOf(child));
    await ended(child);
  },
  "SIGKILL of the CLI alone": async (child) => {
    child.kill("SIGKILL");
    await ended(child);
  },
  "Ctrl-C twice": async (child) => {
    for (let times = 0; times < 2; times++) {
      process.kill(-(child.pid ?? 0), "SIGINT");
      await sleep(300);
    }
    await ended(child);
  },
  "SIGKILL of the plugin alone": async (child) => {
    const plugins = processesOf(child, "dynamic-provider/index");
    expect(plugins).not.toEqual([]);
    killAll(plugins);
    await ended(child);
  },
};

/** Makes this the program, and ends an `up` of it once so many registrations have arrived at a slow service. */
async function endUp(
  declared: Declared,
  registrations: number,
  end = kinds["SIGKILL of everything"],
): Promise<ChildProcess> {
  project.declare(declared);
  service.delayMs = { before: 100, after: 400 };
  const child = await startUp(registrations);
  await end?.(child);
  service.delayMs = { before: 0, after: 0 };
  return child;
}

describe.each(Object.keys(kinds))("after %s", (kind) => {
  test.each(moments)("at registration %d, a plain up ends with exactly what is declared", async (moment) => {
    const declared = endpointsOf("a");
    const child = await endUp(declared, moment, kinds[kind]);
    await project.pulumi("cancel", "--yes");
    const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview");
    killAll(processesOf(child));
    const { registered, recorded } = await found();
    if (exitCode !== 0 && kind === "SIGKILL of the plugin alone") {
      // The engine went on and ended its run, so the state may have had what the plugin was answered in its last moment, and given it up.
      expect(output).toMatch(/REGISTRATION_IN_DOUBT/);
      expect(registered).toEqual([...new Set(registered)]);
    } else
      expect({ exitCode, output, registered, recorded }).toEqual({
        exitCode: 0,
        output,
        ...urlsOf(declared),
      });
  });
});

test("what a run has left whose CLI alone was killed is named by the next up, though its plugin lives on", async () => {
  const { e0: dropped, e1: declared } = endpointsOf("d");
  const child = await endUp({ e0: dropped ?? {} }, 1, kinds["SIGKILL of the CLI alone"]);
  await sleep(1_500); // The plugin gets its answer.
  await project.pulumi("cancel", "--yes");
  project.declare({ e1: declared ?? {} });
  const output = await project.up();
  const plugins = processesOf(child, "dynamic-provider/index");
  killAll(processesOf(child));
  expect(plugins).not.toEqual([]);
  const [left] = service.endpoints;
  expect(output).toContain(`what no resource of this stack has: ${left?.id}`);
});

test.each(moments)(
  "on another machine, a plain up after a kill at registration %d ends with exactly what is declared",
  async (moment) => {
    const declared = endpointsOf("b");
    await endUp(declared, moment);
    rmSync(join(project.folder, "home"), { recursive: true, force: true });
    await project.succeed("stack", "select", "dev");
    await project.pulumi("cancel", "--yes");
    await project.up();
    expect(await found()).toEqual(urlsOf(declared));
  },
);

test.each(moments)(
  "a second stack with equal urls and the same PULUMI_HOME keeps its own endpoints after a kill at registration %d, and the killed stack gets its own",
  async (moment) => {
    const declared = endpointsOf("c");
    // Some of the killed run's requests don't get through.
    for (const { url } of Object.values(declared).slice(0, 3)) service.faults.set(String(url), ["ignored"]);
    await endUp(declared, moment);
    service.faults.clear();
    const other = newProject({ PULUMI_HOME: project.env.PULUMI_HOME ?? "" });
    try {
      other.declare(declared);
      await other.up();
      const others = Object.values(await other.endpoints()).map(({ id }) => id);
      await project.pulumi("cancel", "--yes");
      await project.up();
      const own = Object.values(await project.endpoints()).map(({ id }) => id);
      expect(new Set([...own, ...others]).size).toBe(2 * count);
      expect(service.endpoints).toHaveLength(2 * count);
    } finally {
      other.dispose();
    }
  },
);
