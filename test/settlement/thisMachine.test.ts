import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf, failure, inputs, otherInputs, type PluginOptions, rootUrn, VerbsWorld } from "./verbsWorld";

let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

const backend = (PULUMI_BACKEND_URL: string): PluginOptions => ({ environment: { PULUMI_BACKEND_URL } });

describe("what a killed run on this machine registered", () => {
  test("is taken over by the next run, which says so", async () => {
    const lost = await world.lose();
    expect((await world.register()).id).toBe(lost);
    expect(world.ids()).toEqual([lost]);
    expect(world.infos.join()).toContain(`took over ${lost}`);
  });

  test("is taken over in one file of the book, so a kill leaves no second one that looks pending", async () => {
    const lost = await world.lose();
    await world.register();
    expect(world.book()).toMatchObject([{ id: lost, closed: false, run: expect.stringMatching(/2$/) }]);
  });

  test("is taken over if its answer had arrived, though a second endpoint fits", async () => {
    const { id } = await world.register();
    world.service.add(inputs);
    expect((await world.register()).id).toBe(id);
  });

  test("is taken over after a destroy, which ends the stack's state", async () => {
    const lost = await world.lose();
    // The engine keeps the interrupted operation in the state of a destroyed stack (measured on 3.255).
    world.interrupt("jobs", inputs);
    world.ended("succeeded", { kind: "destroy", from: -3_000, until: -2_000 });
    world.created = world.clock.text(-1_000);
    expect((await world.register()).id).toBe(lost);
    // That run is killed too, before the state has it, and somebody clears the operation.
    world.operations = [];
    world.save();
    world.clock.skip(60_000);
    expect((await world.register()).id).toBe(lost);
  });

  test("is taken over although the clock was put back since the stack began", async () => {
    world.created = world.clock.text(3_600_000);
    const { id } = await world.register();
    world.clock.skip(60_000);
    expect((await world.register()).id).toBe(id);
  });

  test("is taken over after a refresh that began in the second of the kill", async () => {
    const lost = await world.lose({}, { thenMs: 300 });
    world.ended("succeeded", { kind: "refresh", from: -100, until: 100 });
    world.clock.skip(60_000);
    expect((await world.register()).id).toBe(lost);
  });

  test("goes to only one of two equal resources", async () => {
    const lost = await world.lose();
    const next = world.plugin();
    const made = await Promise.all([next.create(inputs), next.create(inputs)]);
    expect(made.map(({ id }) => id)).toContain(lost);
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
    expect(world.ids()).toHaveLength(2);
  });

  test("is taken over with an API key that was rotated since", async () => {
    const lost = await world.lose();
    world.service.rotateKey("emulator-api-key", "rotated");
    expect((await world.register({ apiKey: "rotated" })).id).toBe(lost);
  });

  test("is taken over from another checkout of the program", async () => {
    const lost = await world.lose();
    const folder = process.cwd();
    try {
      process.chdir(world.folder);
      expect((await world.register()).id).toBe(lost);
    } finally {
      process.chdir(folder);
    }
  });

  test.each(["file:///backend/", "file:///backend?metadata=skip"])(
    "is taken over through the backend URL %s, which means the same folder",
    async (url) => {
      const lost = await world.lose();
      expect((await world.register(backend(url))).id).toBe(lost);
    },
  );

  test("is taken over through a link to the backend", async () => {
    mkdirSync(`${world.folder}/backend`);
    symlinkSync(`${world.folder}/backend`, `${world.folder}/link`);
    const lost = await world.lose(backend(`file://${world.folder}/backend`));
    expect((await world.register(backend(`file://${world.folder}/link`))).id).toBe(lost);
  });

  test("is taken over after many refreshes, whose history fills more than a page", async () => {
    const lost = await world.lose();
    for (let runs = 0; runs < 120; runs++)
      world.ended("succeeded", { kind: "refresh", from: -runs - 2, until: -runs - 1 });
    expect((await world.register()).id).toBe(lost);
  });

  test.each(["target", "exclude", "target-replace"])(
    "is taken over after an up with --%s, which may have left its resource out",
    async (flag) => {
      const { id } = await world.register();
      world.clock.skip(60_000);
      world.ended("succeeded", { flags: [flag] });
      expect((await world.register()).id).toBe(id);
    },
  );

  test("is in doubt after a later up that succeeded and did not record it", async () => {
    const { id } = await world.register();
    world.clock.skip(60_000);
    world.ended("succeeded");
    const { message } = await failure(world.register());
    expect(message).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(message).toContain(id);
    expect(world.ids()).toEqual([id]);
  });

  test("is in doubt while the history cannot be read, and is taken over once it can", async () => {
    const lost = await world.lose();
    const print = world.printHistory;
    world.printHistory = "exit 1";
    expect(await codeOf(world.register())).toBe("REGISTRATION_IN_DOUBT");
    world.printHistory = print;
    expect((await world.register()).id).toBe(lost);
  });

  test("is in doubt while the state cannot be read", async () => {
    const lost = await world.lose();
    expect(await codeOf(world.register({ environment: { PATH: "/nowhere" } }))).toBe("REGISTRATION_IN_DOUBT");
    expect((await world.register()).id).toBe(lost);
  });

  test("is in doubt in a backend with organizations, where another stack may have the same name", async () => {
    await world.lose(backend("https://api.pulumi.com"));
    expect(await codeOf(world.register(backend("https://api.pulumi.com")))).toBe("REGISTRATION_IN_DOUBT");
  });

  test("is taken over in a backend with organizations if the state has the interrupted operation too", async () => {
    const lost = await world.lose(backend("https://api.pulumi.com"), { thenMs: 1_000 });
    world.interrupt("jobs", inputs);
    world.clock.skip(60_000);
    expect((await world.register(backend("https://api.pulumi.com"))).id).toBe(lost);
  });

  test("is left alone by ifExists register, which registers another one without a warning", async () => {
    const { id } = await world.register();
    world.clock.skip(60_000);
    world.ended("succeeded");
    const made = await world.register({}, { ...inputs, ifExists: "register" });
    expect(made.id).not.toBe(id);
    expect(world.warnings.join()).not.toMatch(/already has/);
  });

  test("is not given to a resource with another ip, which stops in doubt", async () => {
    await world.lose({}, { args: { ...inputs, ip: "192.0.2.1" } });
    expect(await codeOf(world.register())).toBe("REGISTRATION_IN_DOUBT");
    expect(world.ids()).toHaveLength(1);
  });

  test.each<[string, PluginOptions]>([
    ["another stack", { rootUrn: rootUrn.replaceAll("dev", "prod") }],
    ["a stack of the same name in another backend", backend("file:///other")],
    ["a command without a stack", { rootUrn: undefined }],
  ])("is not given to %s", async (_, options) => {
    const lost = await world.lose();
    expect((await world.register(options)).id).not.toBe(lost);
    expect(world.warnings.join()).toContain(lost);
  });

  test.each<[string, (id: string) => void]>([
    ["the state has", (id) => world.record("moved", id)],
    [
      "a run that succeeded has recorded, and that was then dropped from the state",
      () => world.ended("succeeded", { from: -90_000 }),
    ],
    ["a stack of the same name registered before it was renamed", () => (world.created = world.clock.text())],
  ])("does not count as interrupted if it is what %s", async (_, happen) => {
    const { id } = await world.register();
    world.clock.skip(60_000);
    happen(id);
    expect((await world.register()).id).not.toBe(id);
    expect(world.ids()).toHaveLength(2);
  });

  test("needs no history if the state has it, and one reading of the history for any number of others", async () => {
    world.printHistory = "echo >>histories; exit 1";
    const histories = () => readFileSync(`${world.folder}/histories`, "utf8").length;
    const made = await world.register();
    world.record("jobs", made.id);
    await world.register();
    expect(histories).toThrow(/ENOENT/);
    world.resources = [];
    world.edit((entry) => ({ ...entry, id: null }));
    const next = world.plugin();
    for (let times = 0; times < 3; times++) await failure(next.create(inputs));
    expect(histories()).toBe(1);
  });
});

describe("a registration that never arrived", () => {
  test("is waited for, and then registered", async () => {
    await world.loseInVain({}, { thenMs: 5_000 });
    const startedAt = world.clock.now();
    const made = await world.register();
    expect(world.ids()).toEqual([made.id]);
    expect(world.clock.now() - startedAt).toBeGreaterThan(4_000);
    expect(world.infos.join()).toMatch(/waiting up to \d+ s/);
  });

  test("gives no right to what another stack on this machine has registered since", async () => {
    await world.loseInVain({}, { thenMs: 0 });
    const others = await world.register(backend("file:///other"));
    world.clock.skip(60_000);
    expect((await world.register()).id).not.toBe(others.id);
    expect(world.ids()).toHaveLength(2);
    expect(world.warnings.join()).toContain(others.id);
  });
});

describe("an unusable PULUMI_HOME", () => {
  test.each<[string, () => NodeJS.ProcessEnv]>([
    [
      "a file stands in its place",
      () => {
        writeFileSync(`${world.folder}/file`, "");
        return { PULUMI_HOME: `${world.folder}/file` };
      },
    ],
    ["its name is impossible", () => ({ PULUMI_HOME: `/tmp/${"x".repeat(5_000)}` })],
    ["it was removed", () => ({ PULUMI_HOME: `${world.folder}/removed` })],
  ])("does not fail a run when %s, and is named in one line, once", async (_, environment) => {
    const options = { environment: environment() };
    const run = world.plugin(options);
    await run.create(inputs);
    await run.create(otherInputs);
    expect(world.ids()).toHaveLength(2);
    expect(world.warnings.filter((warning) => /cannot use .*book/.test(warning))).toHaveLength(1);
  });
});

test("a run that was killed before it sent anything leaves proof of that, also after a preview", async () => {
  await world.loseInVain({}, { thenMs: 0 });
  const dead = { host: hostname(), pid: 2 ** 22, start: "never" };
  world.edit((entry) => ({ ...entry, sent: null, id: null, process: dead }));
  world.interrupt("jobs", inputs);
  const others = world.service.add(inputs);
  world.clock.skip(60_000);
  await world.plugin().check({}, { ...inputs });
  expect((await world.register()).id).not.toBe(others.id);
  expect(world.warnings.join()).toContain(others.id);
});
