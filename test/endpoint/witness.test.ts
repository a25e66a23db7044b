import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { systemClock } from "../../src/client/clock";
import type { EndpointInputs } from "../../src/endpoint/types";
import { type PluginOptions, rootUrn, stateOf, WitnessWorld } from "./witnessWorld";

const inputs: EndpointInputs = { url: "https://hooks.example.com/t0ken/jobs", type: "production" };
const otherInputs: EndpointInputs = { ...inputs, url: "https://hooks.example.com/t0ken/other" };

let world: WitnessWorld;
beforeEach(async () => {
  world = await WitnessWorld.start();
});
afterEach(() => world.close());

/** Registers in a run of its own. */
const register = (options?: PluginOptions, args = inputs) => world.plugin(options).create(args);
const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: Error) => error,
  );
/**
 * Sends a registration that the service ignores, long enough ago to count as never made. Returns the path of its journal.
 */
async function registerInVain(): Promise<string> {
  world.service.faults.set(inputs.url, ["ignored"]);
  await failure(register());
  const [journal = ""] = world.journalFiles();
  const text = readFileSync(journal, "utf8");
  const aMinuteAgo = (_: string, name: string, at: string) => `"${name}":${Number(at) - 60_000}`;
  writeFileSync(journal, text.replace(/"(at|attemptedAt)":(\d+)/g, aMinuteAgo));
  return journal;
}
const later = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const ids = () => world.service.endpoints.map(({ id }) => id);

describe("the journal on this machine", () => {
  test("gives an endpoint that a killed run registered to the next run", async () => {
    const lost = await register();
    expect((await register()).id).toBe(lost.id);
    expect(ids()).toEqual([lost.id]);
  });

  test("takes nothing over when the state that the CLI prints is another stack's with the same name", async () => {
    const lost = await register();
    world.isOurs = false;
    expect((await register()).id).not.toBe(lost.id);
  });

  test("still does after a destroy, which ends the stack's state", async () => {
    const lost = await register();
    await new Promise((resolve) => setTimeout(resolve, 5));
    world.ended("succeeded", { kind: "destroy", lasted: 0 });
    world.created = new Date().toISOString();
    world.history = world.history.map((run) => ({ ...run, startTime: later(2_000), endTime: later(3_000) }));
    expect((await register()).id).toBe(lost.id);
  });

  test("gives an endpoint to only one of two equal resources", async () => {
    const lost = await register();
    const next = world.plugin();
    const made = await Promise.all([next.create(inputs), next.create(inputs)]);
    expect(made.map(({ id }) => id)).toContain(lost.id);
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
    expect(ids()).toHaveLength(2);
  });

  test("holds no url, key or secret, and only the user can read it", async () => {
    await register();
    await register({}, otherInputs);
    expect(world.journals()).toContain(ids()[0]);
    expect(world.journals()).not.toMatch(/hooks\.example|t0ken|127\.0\.0\.1:\d+\/|k3y|production/);
    for (const file of world.journalFiles()) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    }
  });

  test.each<[string, PluginOptions]>([
    ["another stack", { rootUrn: rootUrn.replaceAll("dev", "prod") }],
    ["a stack of the same name in another backend", { environment: { PULUMI_BACKEND_URL: "file:///other" } }],
    ["another account", { apiKey: "other-k3y" }],
    ["a command without a stack", { rootUrn: undefined }],
  ])("gives nothing to %s", async (_, options) => {
    const lost = await register();
    expect((await register(options)).id).not.toBe(lost.id);
  });

  test("takes no endpoint of another stack on this machine for what an unanswered registration made", async () => {
    await registerInVain();
    const others = await register({ environment: { PULUMI_BACKEND_URL: "file:///other" } });
    expect((await register()).id).not.toBe(others.id);
    expect(ids()).toHaveLength(2);
  });

  test.each<[string, (id: string) => void]>([
    ["the state has", (id) => world.record("moved", id)],
    [
      "a run that succeeded has registered, and that was then dropped from the state",
      () => world.ended("succeeded"),
    ],
    [
      "a stack of the same name registered before it was renamed",
      () => (world.created = new Date().toISOString()),
    ],
  ])("never gives away an endpoint that %s", async (_, happen) => {
    const made = await register();
    await new Promise((resolve) => setTimeout(resolve, 5));
    happen(made.id);
    expect((await register()).id).not.toBe(made.id);
    expect(ids()).toHaveLength(2);
  });

  test("never gives away an endpoint that is older than the history that Pulumi prints", async () => {
    const made = await register();
    for (let runs = 0; runs < 20; runs++) world.ended("succeeded", { lasted: -2_000 });
    expect((await register()).id).not.toBe(made.id);
  });

  test("gives nothing away when the state cannot be read", async () => {
    const made = await register();
    expect((await register({ environment: { PATH: "/nowhere" } })).id).not.toBe(made.id);
  });

  test("takes no endpoint back that another stack on this machine has adopted", async () => {
    const lost = await register();
    const other = { environment: { PULUMI_BACKEND_URL: "file:///other" } };
    await register(other, { ...inputs, adoptId: lost.id });
    expect((await register()).id).not.toBe(lost.id);
  });

  test("takes no endpoint of another stack even if files next to that stack's journal cannot be read", async () => {
    const own = await registerInVain();
    const others = await register({ environment: { PULUMI_BACKEND_URL: "file:///other" } });
    const [service] = /-[0-9a-f]+-[0-9a-f]+\.jsonl$/.exec(own) ?? [];
    for (const name of ["0", "f"])
      mkdirSync(`${dirname(own)}/${name.repeat(24)}-${name.repeat(24)}${service}`);
    expect((await register()).id).not.toBe(others.id);
  });

  test("takes over what the killed run registered, however the backend's URL is spelled", async () => {
    const lost = await register({ environment: { PULUMI_BACKEND_URL: "file:///backend" } });
    for (const PULUMI_BACKEND_URL of ["file:///backend/", "file:///backend?metadata=skip"])
      expect((await register({ environment: { PULUMI_BACKEND_URL } })).id).toBe(lost.id);
    const relative = await register({ environment: { PULUMI_BACKEND_URL: "file://./state" } }, otherInputs);
    const PULUMI_BACKEND_URL = `file://${process.cwd()}/state`;
    expect((await register({ environment: { PULUMI_BACKEND_URL } }, otherInputs)).id).toBe(relative.id);
  });

  test("needs no history for an endpoint that the state has, and reads it once for any number of others", async () => {
    world.printHistory = "echo >>histories; exit 1";
    const histories = () => readFileSync(`${world.folder}/histories`, "utf8").length;
    world.record("jobs", (await register()).id);
    await register();
    expect(histories).toThrow(/ENOENT/);
    world.resources = [];
    const next = world.plugin();
    for (let made = 0; made < 3; made++) await next.create(inputs);
    expect(histories()).toBe(1);
  });

  test("gives nothing away while the history cannot be read, and forgets nothing", async () => {
    const lost = await register();
    const print = world.printHistory;
    world.printHistory = "exit 1";
    expect((await register()).id).not.toBe(lost.id);
    world.printHistory = print;
    expect((await register()).id).toBe(lost.id);
  });

  test.each<[string, () => NodeJS.ProcessEnv]>([
    [
      "a file stands in the place of PULUMI_HOME",
      () => {
        writeFileSync(`${world.folder}/file`, "");
        return { PULUMI_HOME: `${world.folder}/file` };
      },
    ],
    ["the folder's name is impossible", () => ({ PULUMI_HOME: `/tmp/${"x".repeat(5_000)}` })],
  ])("does not fail a run when %s", async (_, environment) => {
    const options = { environment: environment() };
    const made = await register(options);
    await world.plugin(options).diff(made.id, stateOf(made), inputs);
    await world.plugin(options).delete(made.id, stateOf(made));
    expect(ids()).toEqual([]);
  });
});

describe("an unfinished operation in the state of another machine", () => {
  /** A run on another machine, whose own operation the state holds too. */
  const registerElsewhere = (options?: PluginOptions) => {
    world.interrupt("new", inputs, { provider: options?.provider ?? "default" });
    return register({ ...elsewhere(), ...options });
  };
  const elsewhere = (): PluginOptions => ({ environment: { PULUMI_HOME: `${world.folder}/elsewhere` } });

  beforeEach(() => {
    world.ended("succeeded", { lasted: 1_000 });
    world.history = world.history.map((run) => ({
      ...run,
      endTime: new Date(Date.now() - 1_000).toISOString(),
    }));
  });

  test("gives the endpoint that the killed run made to the next run", async () => {
    const lost = world.service.add(inputs.url);
    world.interrupt("jobs", inputs);
    expect((await registerElsewhere()).id).toBe(lost.id);
  }, 60_000);

  test("still does after a refresh", async () => {
    const lost = world.service.add(inputs.url);
    world.interrupt("jobs", inputs);
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const run of world.history)
      Object.assign(run, { endTime: new Date(Date.now() - 60_000).toISOString() });
    world.ended("succeeded", { kind: "refresh", lasted: 0 });
    world.history = world.history.map((run) =>
      run.kind === "refresh" ? { ...run, endTime: new Date(Date.now() + 10_000).toISOString() } : run,
    );
    expect((await registerElsewhere()).id).toBe(lost.id);
  }, 60_000);

  test("of another provider gives away nothing", async () => {
    const others = world.service.add(inputs.url);
    world.interrupt("jobs", inputs, { provider: "eu" });
    expect((await registerElsewhere()).id).not.toBe(others.id);
    expect((await registerElsewhere({ provider: "us" })).id).not.toBe(others.id);
  });

  test("gives away nothing that another stack has registered from this machine", async () => {
    world.interrupt("jobs", inputs);
    // On this other machine, where the killed run left no journal.
    const { PULUMI_HOME = "" } = elsewhere().environment ?? {};
    mkdirSync(PULUMI_HOME);
    const others = await register({ environment: { PULUMI_HOME, PULUMI_BACKEND_URL: "file:///other" } });
    // The run need not wait for what may still come: its clock jumps once it has started.
    let calls = 0;
    const clock = { ...systemClock, date: () => Date.now() + (calls++ > 0 ? 20_000 : 0) };
    expect((await registerElsewhere({ clock })).id).not.toBe(others.id);
  });

  test("gives away nothing if the state has the resource as it was declared: a later run may have settled it", async () => {
    const old = world.service.add(inputs.url);
    world.record("jobs", old.id);
    Object.assign(world.resources.at(-1) ?? {}, { inputs });
    world.interrupt("jobs", inputs);
    const others = world.service.add(inputs.url);
    const made = await registerElsewhere();
    expect([old.id, others.id]).not.toContain(made.id);
    expect(world.warnings.join("\n")).toContain(others.id);
  });

  test("that begins while the state is read counts as this run's own", async () => {
    const others = world.service.add(inputs.url);
    const run = world.plugin(elsewhere());
    world.interrupt("a", inputs);
    world.interrupt("b", inputs);
    world.save();
    const first = run.create(inputs);
    await new Promise((resolve) => setTimeout(resolve, 1)); // the first one reads the state
    const made = await Promise.all([first, run.create(inputs)]);
    expect(made.map(({ id }) => id)).not.toContain(others.id);
  });
});

describe("the preview", () => {
  test("warns of a duplicate when the history cannot be read, because create will take nothing over", async () => {
    world.service.add(inputs.url);
    world.interrupt("jobs", inputs);
    world.printHistory = "exit 1";
    await world.plugin().check({}, { ...inputs });
    expect(world.warnings.join("\n")).toMatch(/already has an endpoint/);
  });
});

describe("a registration that the engine asks for again", () => {
  test("leaves nothing open in the journal once it is settled", async () => {
    const run = world.plugin();
    world.service.faults.set(inputs.url, ["500"]);
    world.service.listsFailMs = Number.POSITIVE_INFINITY;
    expect((await failure(run.create(inputs))).message).toMatch(/REGISTRATION_PENDING/);
    world.service.listsFailUntil = 0;
    const made = await run.create(inputs);
    expect(ids()).toEqual([made.id]);
    world.record("jobs", made.id);
    world.ended("failed");
    const stranger = world.service.add(inputs.url);
    expect((await register()).id).not.toBe(stranger.id);
  }, 60_000);
});
