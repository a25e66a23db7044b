import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Habits } from "../provider/fakeService";
import { API_KEY, HttpService } from "./httpService";
import { Project } from "./project";
import { killAll, processesOf } from "./session";

jest.setTimeout(600_000);

const COUNT = 12;
const SLOW_MS = 300;

const urlOf = (at: number) => `https://hooks.example.com/${at}`;

/** A stack at a service of its own. */
class World {
  private constructor(
    readonly service: HttpService,
    readonly project: Project,
  ) {}

  /** Makes one for a test. */
  static async use<T>(
    act: (world: World) => Promise<T>,
    { habits = {}, config = {} }: { habits?: Habits; config?: Readonly<Record<string, string>> } = {},
  ): Promise<T> {
    const service = await HttpService.start(habits);
    const project = new Project({ config: { ...service.config, ...config } });
    // A kill can leave a file of attributes empty, and then no command can read the state (engine rule 26).
    project.env.PULUMI_BACKEND_URL += "?metadata=skip";
    try {
      await project.succeed("stack", "ls");
      return await act(new World(service, project));
    } finally {
      project.dispose();
      await service.stop();
    }
  }

  /** Declares so many endpoints, and returns their urls. */
  declare(count: number, args: object = {}): string[] {
    const urls = Array.from({ length: count }, (_, at) => urlOf(at));
    const declared = urls.map((url, at) => [`e${at}`, { url, type: "production", ...args }]);
    this.project.declare(Object.fromEntries(declared));
    return urls;
  }

  /** Returns what differs from what is declared, at the service and in the state: missing, twice, or an orphan. */
  async differences(urls: readonly string[], others: readonly string[] = []) {
    const recorded = Object.values(await this.project.endpoints());
    const urlOf = (id = "") => this.service.endpoints.find((each) => each.id === id)?.url ?? id;
    const found = {
      registered: this.service.endpoints.map(({ url }) => url).sort(),
      recorded: recorded.map(({ id }) => urlOf(id)).sort(),
    };
    const expected = { registered: [...urls, ...others].sort(), recorded: [...urls].sort() };
    return JSON.stringify(found) === JSON.stringify(expected) ? [] : [found, expected];
  }

  /** Starts an `up`, ends it once so many registrations have arrived at a slow service, and frees the stack. */
  async endUp(registrations: number, end: (cli: ChildProcess) => Promise<void>): Promise<void> {
    const { project, service } = this;
    service.fault({ operation: "register", kind: "late-answer", delayMs: SLOW_MS, times: 999 });
    const arrived = () => service.changes.filter((change) => change === "register").length;
    const until = arrived() + registrations;
    const args = ["up", "--yes", "--skip-preview", "--non-interactive", "--color=never", "--parallel=4"];
    const options = { cwd: project.folder, env: project.env, detached: true, stdio: "ignore" } as const;
    const cli = spawn("pulumi", args, options);
    while (arrived() < until) {
      if (cli.exitCode !== null) throw new Error(`up ended with ${cli.exitCode}`);
      await sleep(5);
    }
    await end(cli);
    killAll(processesOf(cli));
    service.clearFaults();
    rmSync(join(project.folder, "backend/.pulumi/locks"), { recursive: true, force: true });
  }
}

const ended = (cli: ChildProcess) =>
  cli.exitCode !== null || cli.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => cli.once("exit", () => resolve()));
const sigkill = async (cli: ChildProcess) => {
  killAll(processesOf(cli));
  await ended(cli);
};
const ctrlCTwice = async (cli: ChildProcess) => {
  for (let times = 0; times < 2; times++) {
    process.kill(-(cli.pid ?? 0), "SIGINT");
    await sleep(300);
  }
  await ended(cli);
};
const sigkillOfThePlugin = async (cli: ChildProcess) => {
  killAll(processesOf(cli, "dynamic-provider/index"));
  await ended(cli);
};

/** What happens between the beginning and a plain `up`, by its name. */
const kills: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [
      `SIGKILL of everything at registration ${at + 1}`,
      (world: World) => world.endUp(at + 1, sigkill),
    ]),
  ),
  "Ctrl-C twice": (world) => world.endUp(5, ctrlCTwice),
  "two kills in a row": async (world) => {
    await world.endUp(3, sigkill);
    await world.endUp(1, sigkill);
  },
  "a kill, on another machine with an empty home": async (world) => {
    await world.endUp(5, sigkill);
    rmSync(join(world.project.folder, "home"), { recursive: true, force: true });
    await world.project.succeed("stack", "select", "dev");
  },
};

/** Kills an `up` at a service of its own, and returns what a plain `up` leaves wrong. */
const play = ([kind, kill]: [string, (world: World) => Promise<unknown>]) =>
  World.use(async (world) => {
    // Another stack's, of the same url and type, registered before; after the window, one more.
    const theirs = (at: number, made: number) => world.service.add({ url: urlOf(at), made }).url;
    const others = [theirs(0, Date.now() - 3_600_000)];
    const urls = world.declare(COUNT, { ifExists: "register" });
    await kill(world);
    others.push(theirs(1, Date.now() + 3_600_000));
    const { exitCode, output } = await world.project.pulumi("up", "--yes", "--skip-preview");
    const wrong = await world.differences(urls, others);
    return { kind, exitCode, wrong, ...(exitCode === 0 ? {} : { output }) };
  });

test("after a kill of any kind a plain up ends with exactly what is declared, and a stranger's equal endpoints stay", async () => {
  const left = Object.entries(kills);
  // Five at once: most of the time, they wait.
  while (left.length > 0) {
    const batch = left.splice(0, 5);
    expect(await Promise.allSettled(batch.map(play))).toEqual(
      batch.map(([kind]) => ({ status: "fulfilled", value: { kind, exitCode: 0, wrong: [] } })),
    );
  }
});

test("after a kill of the plugin alone, the next up stops and names the ids, and adoptId goes on", () =>
  World.use(async (world) => {
    const { project, service } = world;
    const urls = world.declare(3);
    await world.endUp(3, sigkillOfThePlugin);
    const recorded = Object.values(await project.endpoints()).map(({ id }) => id);
    const lost = service.endpoints.filter(({ id }) => !recorded.includes(id));
    expect(lost).not.toEqual([]);
    const output = await project.fail("up", "--yes", "--skip-preview");
    expect(output).toMatch(/ENDPOINT_EXISTS/);
    expect(lost.some(({ id }) => output.includes(id))).toBe(true);
    const adopted = urls.map((url, at) => [
      `e${at}`,
      { url, type: "production", adoptId: service.endpoints.find((each) => each.url === url)?.id },
    ]);
    project.declare(Object.fromEntries(adopted));
    await project.up();
    expect(await world.differences(urls)).toEqual([]);
  }));

test("one Ctrl-C ends every wait, keeps what got no answer pending, and records what is answered", () => {
  const config = { "webhooks:timeoutSeconds": "300" };
  const act = async (world: World) => {
    const { project, service } = world;
    world.declare(3);
    service.fault({ operation: "register", kind: "lost-before" });
    const headers = { "retry-after": "60" };
    service.fault({ operation: "register", kind: "status", status: 429, headers });
    const started = Date.now();
    await world.endUp(3, async (cli) => {
      process.kill(-(cli.pid ?? 0), "SIGINT");
      await ended(cli);
    });
    expect(Date.now() - started).toBeLessThan(50_000);
    const recorded = Object.values(await project.endpoints()).map(({ id }) => id);
    expect(recorded.sort()).toEqual([expect.stringMatching(/^pending:/), service.endpoints[0]?.id]);
  };
  return World.use(act, { config });
});

const FAULTS: readonly Omit<Fault, "operation">[] = [
  ...([
    { kind: "lost-before" },
    { kind: "lost-after" },
    { kind: "hang-before" },
    { kind: "hang-after" },
  ] as const),
  ...([{ kind: "truncated" }, { kind: "garbled" }, { kind: "empty" }] as const),
  ...[500, 503].flatMap((status) =>
    [true, false].map((effect) => ({ kind: "status" as const, status, effect })),
  ),
  { kind: "late-answer", delayMs: 7_000 },
  ...[2_000, 7_000].map((delayMs) => ({ kind: "late-commit" as const, delayMs })),
];

test.each<[string, Habits, RegExp | undefined]>([
  ["whose lists lag", { lagMs: 2_000 }, undefined],
  ["that lists a part", { listed: 20 }, /STILL_PENDING/],
  ["that tells no time", { tells: () => undefined, tellsNoDate: true }, /REGISTRATION_IN_DOUBT/],
])(
  "faults of every kind over 50 endpoints, at a service %s: 0 missing, 0 twice, 0 orphans, or a stop",
  (_, habits, stop) => {
    const act = async (world: World) => {
      const { project, service } = world;
      const urls = world.declare(50);
      for (const fault of FAULTS) service.fault({ ...fault, operation: "register" });
      const first = await project.pulumi("up", "--yes", "--skip-preview");
      expect(first.exitCode).not.toBe(0);
      expect(first.output).toMatch(
        /the registration of https:\/\/hooks\.example\.com\/… was sent.*REGISTRATION_PENDING/,
      );
      expect(first.output).not.toMatch(/\n\s+at /);
      let last = first;
      for (let runs = 0; runs < 2 && last.exitCode !== 0; runs++)
        last = await project.pulumi("up", "--yes", "--skip-preview");
      if (stop === undefined) {
        expect(last).toMatchObject({ exitCode: 0 });
        expect(await world.differences(urls)).toEqual([]);
      } else {
        expect(last.output).toMatch(stop);
        expect(last.output).toMatch(/Ways on:[\s\S]*adoptId/);
      }
      // Nothing was registered twice, or deleted.
      expect(new Set(service.endpoints.map(({ url }) => url)).size).toBe(service.endpoints.length);
      expect(service.changes.filter((change) => change === "delete")).toEqual([]);
      expect(project.transcript).not.toContain(API_KEY);
    };
    return World.use(act, { habits });
  },
);
