import { rmSync } from "node:fs";
import { join } from "node:path";
import { secret } from "../receiver/support";
import type { Switches } from "./cloud/cloudStack";
import { inCloudWorld, useLogin } from "./cloud/cloudWorld";
import type { World } from "./httpService";
import { type End, endUp, interruptUp, type Moment, sigkill, sigkillOfTheEngine } from "./interruption";
import { NativeProject } from "./nativeProject";
import { API_KEY, allAt, at, type Declared, Project } from "./project";

jest.setTimeout(600_000);

const config = { "webhooks:timeoutSeconds": "10" };
const TEN = allAt(Array.from({ length: 10 }, (_, index) => `e${index}`));
/** An export shows the state as it was before the run under way, and null before the first one. */
const before = { shows: "before", nulls: true } as const;
const command = join(__dirname, "../../dist/cli/main.js");
const RUN_UNDER_WAY =
  /^note: a run of the stack dev is under way: .*\(RUN_UNDER_WAY\)\n {2}# wait until it has ended/m;

test.concurrent("between a kill and `pulumi cancel` the command changes nothing that the run may have, and then one up on another machine is exact", () =>
  inCloudWorld(Project, { config, switches: before }, async (world) => {
    const { project, service } = world;
    await useLogin(world);
    project.declare(TEN);
    const stray = service.add({ url: at("stray").url, made: Date.now() - 2 * 3_600_000 });
    await interruptUp(world, { request: 5 }, sigkill);
    const left = service.endpoints.map(({ id }) => id);
    const run = (...args: string[]) => project.run(process.execPath, command, ...args);
    const orphans = ["delete", "--orphans", "--older-than", "0s", "--seen-by", "tester", "--yes"];
    const [all, named, adopted, doctor] = await Promise.all([
      run(...orphans),
      run("delete", left[1] ?? "", "--yes"),
      run("adopt"),
      run("doctor"),
    ]);
    expect(all.stdout).toMatch(/^1 endpoint deleted/m);
    // What the killed engine's plugin had sent may arrive later.
    const now = service.endpoints.map(({ id }) => id);
    expect(now).toEqual(expect.arrayContaining(left.filter((id) => id !== stray.id)));
    expect(now).not.toContain(stray.id);
    for (const { output } of [all, named, adopted])
      expect(output).toMatch(/a run of the stack dev is under way: .*`pulumi cancel --yes --stack dev`/);
    expect(adopted.stdout).not.toMatch(/adoptId: "wh_[2-9]/);
    expect(doctor.output).toMatch(RUN_UNDER_WAY);
    expect(doctor.output).toMatch(new RegExp(`no stack of this project has ${stray.id} \\(UNMANAGED\\)`));
    expect(doctor.output).not.toMatch(/OPERATION_INTERRUPTED/);

    await project.unlock();
    rmSync(join(project.folder, "home"), { recursive: true, force: true });
    await useLogin(world);
    await project.succeed("stack", "select", project.stackName);
    expect(await project.up()).toMatch(/took over wh_\d+/);
    service.expectExactly(project, TEN);
    const made = Date.now() - 2 * 3_600_000;
    const strays = ["one", "two", "three"].map((name) => service.add({ url: at(name).url, made }));
    const [one = "", two = "", three = ""] = strays.map(({ id }) => id);
    const code = (await run("adopt", one)).stdout;
    expect(code.match(/adoptId: "(\w+)"/g)).toEqual([`adoptId: "${one}"`]);
    expect((await run("delete", two, "--yes")).stdout).toMatch(/^1 endpoint deleted, 0 kept/m);
    expect((await run(...orphans)).stdout).toMatch(/^2 endpoints deleted, 0 kept/m);
    expect(service.endpoints.map(({ id }) => id)).not.toContain(three);
    service.expectExactly(project, TEN);
  }));

test.concurrent.each(["before", "so far"] as const)(
  "one up after a kill of the engine alone is exact with a journal, while an export shows the state %s",
  (shows) =>
    inCloudWorld(Project, { config, switches: { shows, nulls: true } }, async (world) => {
      const { project, service } = world;
      await useLogin(world);
      project.declare(TEN);
      await interruptUp(world, { request: 5 }, sigkillOfTheEngine);
      await project.unlock();
      expect(await project.up()).toMatch(/took over wh_\d+/);
      service.expectExactly(project, TEN);
    }),
);

test.concurrent("while an up works, doctor says to wait, and the command deletes and adopts only what that has nothing to do with", () =>
  inCloudWorld(Project, { config, switches: before }, async ({ project, service }) => {
    const declared = allAt(["a", "b", "c"]);
    project.declare(declared);
    await project.makeStack();
    const stray = service.add({ url: at("stray").url, made: Date.now() - 2 * 3_600_000 });
    // Slower than the commands beside it.
    service.fault({ operation: "register", kind: "late-response", delayMs: 9_000, times: 9 });
    const registering = new Promise<void>((resolve) => {
      service.watch = ({ operation }, moment) => {
        if (operation === "register" && moment === "done") resolve();
      };
    });
    const up = project.up("--parallel=1");
    await registering;
    const made = service.endpoints.find(({ id }) => id !== stray.id)?.id ?? "";
    const run = (...args: string[]) => project.run(process.execPath, command, ...args);
    const [doctor, named, all] = await Promise.all([
      run("doctor"),
      run("delete", made, "--yes"),
      run("delete", "--orphans", "--older-than", "0s", "--seen-by", "tester", "--yes"),
    ]);
    await up;
    expect(doctor.output).toMatch(RUN_UNDER_WAY);
    expect(named.output).toMatch(new RegExp(`${made} is kept: .*a run of the stack dev is under way`));
    expect(all.stdout).toMatch(new RegExp(`^Deleted ${stray.id}\n1 endpoint deleted`, "m"));
    service.expectExactly(project, declared);
    expect((await run("doctor")).output).not.toMatch(/UNDER_WAY|INTERRUPTED/);
  }));

test.concurrent("three lost responses of each kind are made up for by one more up, and a receiver reads the stack's output with the token alone", () =>
  inCloudWorld(Project, { config, switches: before }, async (world) => {
    const { project, service } = world;
    const nine = allAt(["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    const output = `exports.receiver = require("pulumi-webhook-endpoints").receiverConfig({ secrets: ["${secret}"] });`;
    project.declare(nine, output);
    for (const kind of ["lost-before", "lost-after", "hang-after"] as const)
      service.fault({ operation: "register", kind, times: 3 });
    // What was made is found in the run itself; what was not stays pending.
    expect(await project.failUp()).toMatch(/REGISTRATION_PENDING/);
    await project.up();
    service.expectExactly(project, nine);
    // Where a receiver runs there is no project, and no passphrase.
    const source = `{ stackName: "${project.stackName}", workDir: "/" }`;
    const receiver = `require("pulumi-webhook-endpoints/stack").receiverFromStack(${source}, { handlers: {}, onUnhandled() {} })`;
    const { output: said } = await project.run(
      process.execPath,
      "-e",
      `${receiver}.then(() => console.log("ready"))`,
    );
    expect(said).toBe("ready\n");
    // The name that Pulumi Cloud shows. What owns the endpoints, `list` and `adopt` learn as the deletion of orphans does.
    const run = (...args: string[]) =>
      project.run(process.execPath, command, ...args, "--stack", project.stackName);
    const [doctor, orphans, probe] = await Promise.all([
      run("doctor"),
      run("delete", "--orphans", "--seen-by", "tester", "--yes"),
      run("probe", "http://127.0.0.1:1/hooks"),
    ]);
    expect(doctor.output).toMatch(/Everything that was checked is in order/);
    expect(orphans.stdout).toBe("There is nothing to delete.\n");
    expect(probe.stdout).toMatch(
      /Tried secret [0-9a-f]{12} of the output receiver of the stack acme\/test\/dev/,
    );
    project.expectHidden(secret);
  }));

const NATIVE = (names: readonly string[]) =>
  `resources: ${JSON.stringify(Object.fromEntries(names.map((name) => [name, { type: "webhooks:WebhookEndpoint", properties: at("same") }])))}`;

test.concurrent.each([true, false])(
  "natively, a rename without an alias works in a second organization, where the default one has a stack of this name: %s",
  (isInBoth) =>
    inCloudWorld(
      NativeProject,
      { config, stackName: "tester/test/dev", switches: before },
      async ({ cloud, project, service }) => {
        if (isInBoth) cloud.add("acme/test/dev");
        project.yaml(NATIVE(["one"]));
        service.fault({ operation: "register", kind: "lost-before" });
        await project.failUp();
        await project.up();
        project.yaml(NATIVE(["two"]));
        // A preview is no update, so the list shows none.
        const which = /of acme\/test\/dev or tester\/test\/dev, and no update under way shows which/;
        if (isInBoth) expect(await project.preview()).toMatch(which);
        else expect(await project.preview()).not.toMatch(which);
        expect(await project.up()).not.toMatch(/cannot be read/);
        service.expectExactly(project, { two: at("same") });
        expect(service.changes).toEqual(["register", "register", "register", "delete"]);
      },
    ),
);

/** Without a journal, the CLI saves no operation that has not ended. */
const NO_JOURNAL: Partial<Switches> = { journals: false };

/** Expects that an up stops and names what a killed one registered, and that one with `ifExists` is exact. */
async function stopsAndAdopts({ project, service }: World, declared: Declared): Promise<void> {
  const stop = await project.failUp();
  expect(stop).toMatch(/ENDPOINT_EXISTS/);
  const recorded = Object.values(project.ids());
  const left = service.endpoints.filter(({ id }) => !recorded.includes(id));
  expect(left.some(({ id }) => stop.includes(id))).toBe(true);
  expect(new Set(service.endpoints.map(({ url, type }) => `${type} ${url}`)).size).toBe(
    service.endpoints.length,
  );
  project.env.WEBHOOKS_IF_EXISTS = "adopt";
  await project.up();
  service.expectExactly(project, declared);
}

test.concurrent.each<[string, End, Partial<Switches>]>([
  // That of all of a run is below.
  ["the engine without a journal", sigkillOfTheEngine, NO_JOURNAL],
  ["all of a run whose journal is dropped by `pulumi cancel`", sigkill, { keepsCancelled: false }],
])(
  "a kill of %s leaves no operation: the next up stops and names the endpoints, and one with ifExists adopts them",
  (_, end, switches) =>
    inCloudWorld(Project, { config, switches }, async (world) => {
      await world.project.makeStack();
      world.project.declare(TEN);
      await endUp(world, 5, end);
      await stopsAndAdopts(world, TEN);
    }),
);

const SIX = allAt(["a", "b", "c", "d", "e", "f"]);
const CHANGED = allAt(Object.keys(SIX), { type: "development" });

test.concurrent.each<[string, Moment, Partial<Switches>, End?]>([
  [
    "by the end of its engine alone, while it registers, is exact",
    { request: 3 },
    before,
    sigkillOfTheEngine,
  ],
  ["while it deletes is exact", { request: 3, operation: "delete" }, before],
  ["while it registers, without a journal, stops, and is exact with ifExists", { request: 3 }, NO_JOURNAL],
  ["while it deletes, without a journal, is exact", { request: 3, operation: "delete" }, NO_JOURNAL],
])("the up after a replacement of six that was killed %s", (_, moment, switches, end = sigkill) =>
  inCloudWorld(Project, { config, switches }, async (world) => {
    const { project, service } = world;
    project.declare(SIX);
    await project.up();
    project.declare(CHANGED);
    await interruptUp(world, moment, end);
    await project.unlock();
    // Nothing tells what it was registering: it stops, and never registers twice.
    if (switches === NO_JOURNAL && moment.operation === undefined) return stopsAndAdopts(world, CHANGED);
    await project.up();
    service.expectExactly(project, CHANGED);
  }),
);

test.concurrent("who sees not every stack is asked before orphans are deleted, and who sees them all deletes nothing that one has", () =>
  inCloudWorld(Project, { config, switches: { pageSize: 2 } }, async ({ cloud, project, service }) => {
    project.declare(allAt(["a"]));
    await project.up();
    for (const name of ["acme/test/other", "acme/mail/dev", "tester/mail/dev"]) cloud.add(name);
    const bob = { name: "bob", token: "pul-bob", organizations: ["acme"], hidden: [project.stackName] };
    cloud.users.push(bob);
    const orphans = ["delete", "--orphans", "--older-than", "0s", "--yes"];
    const run = (...args: string[]) => project.run(process.execPath, command, ...args);
    expect((await run(...orphans, "--seen-by", "tester")).stdout).toBe("There is nothing to delete.\n");
    Object.assign(project.env, {
      PULUMI_ACCESS_TOKEN: bob.token,
      WEBHOOKS_BASE_URL: service.url,
      WEBHOOKS_API_KEY: API_KEY,
    });
    expect((await run("list", "--orphans", "--stack", "acme/test/other")).output).toMatch(
      /that bob, .* may read\./,
    );
    const refused = await run(...orphans, "--stack", "other", "--seen-by", "tester");
    expect(refused.output).toMatch(/here bob, and not tester.*\(OWNERSHIP_UNKNOWN\)/);
    service.expectExactly(project, allAt(["a"]));
  }));
