import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { API_KEY, allAt, JAVASCRIPT, Project } from "./project";

jest.setTimeout(300_000);

const command = join(__dirname, "../../dist/cli/main.js");
/** Of another account. */
const OTHER_KEY = "k3y-of-another";
const PATHS = ["a", "b", "c", "d", "e", "f"];

let emulator: Emulator;
let project: Project;
beforeEach(async () => {
  emulator = await startEmulator({ apiKey: API_KEY, accounts: { [OTHER_KEY]: "other" } });
  project = new Project({ config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY } });
});
afterEach(async () => {
  project.dispose();
  await emulator.close();
});

const run = async (...args: string[]) => project.run(process.execPath, command, ...args);
const ids = () => emulator.endpoints().map(({ id }) => id);

test("while a colleague's up runs, doctor says to wait, nothing of it is deleted or adopted, and afterwards all is in order", async () => {
  await project.makeStack();
  project.declare(allAt(PATHS), 'exports.receiver = "none";');
  const stray = emulator.add({
    url: "https://hooks.example.com/stray",
    type: "production",
    createdAt: new Date(Date.now() - 7_200_000).toISOString(),
  });
  // Slower than the commands beside it: they end before the run does.
  emulator.fault({ operation: "register", kind: "delay", delayMs: 9_000, times: PATHS.length });
  const registering = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (!emulator.requests.some(({ method }) => method === "POST")) return;
      clearInterval(timer);
      resolve();
    }, 50);
  });
  const up = project.up();
  await registering;
  const [doctor, deleted, adopted] = await Promise.all([
    run("doctor"),
    run("delete", "--orphans", "--older-than", "0s", "--yes"),
    run("adopt"),
  ]);
  await up;
  expect(doctor.output).toMatch(
    // A slow machine may see the state change before it sees the process.
    /^note: a run of the stack dev is under way: (the process \d+ of \S+@\S+, since .*|its state has just changed.*)\(RUN_UNDER_WAY\)\n {2}# wait until it has ended/m,
  );
  expect(doctor.output).not.toMatch(/pulumi cancel|interrupted|^ {2}pulumi| probe /m);
  expect(doctor.exitCode).toBe(0);
  expect(deleted.stdout).toMatch(new RegExp(`^Deleted ${stray.id}\n1 endpoint deleted, 0 kept`, "m"));
  expect(adopted.stdout).not.toMatch(/hooks\.example\.com\/[a-f]"/);
  expect(ids()).toHaveLength(PATHS.length);
  expect(Object.values(project.ids()).sort()).toEqual(ids().sort());
  const after = await run("doctor");
  expect(after.output).toMatch(/Everything that was checked is in order/);
});

const setKey = (key: string) => project.succeed("config", "set", "--secret", "webhooks:apiKey", key);
const count = (account: string) => emulator.endpoints(account).length;
/** Declares endpoints of a provider that has the other key. */
const moved = (paths: readonly string[]) =>
  project.declare(
    {},
    `const provider = new WebhooksProvider("moved", { baseUrl: ${JSON.stringify(emulator.url)}, apiKey: ${JSON.stringify(OTHER_KEY)} });
for (const name of ${JSON.stringify(paths)})
  new WebhookEndpoint(name, { url: "https://hooks.example.com/" + name, type: "production" }, { provider });`,
  );

test("with the key of another account, nothing is registered, forgotten or left, and each way on that is named works", async () => {
  const [own, more] = [PATHS.slice(0, 2), PATHS.slice(0, 3)];
  project.declare(allAt(own));
  await project.up();
  const before = [...ids()].sort();

  // A pipeline with the wrong key, and something new.
  await setKey(OTHER_KEY);
  project.declare(allAt(more));
  const stops = [
    await project.fail("preview"),
    await project.failUp(),
    await project.fail("refresh", "--yes", "--skip-preview", "--run-program"),
    await project.fail("destroy", "--yes", "--skip-preview", "--run-program"),
    (await run("doctor")).output,
  ];
  for (const output of stops) expect(output).toMatch(/it is another account[\s\S]*\(OTHER_ACCOUNT\)/);
  expect([ids().sort(), count("other")]).toEqual([before, 0]);
  expect(Object.values(project.ids()).sort()).toEqual(before);

  // Restored. The wrong key stays stored until the next up.
  await setKey(API_KEY);
  expect((await run("doctor")).output).toMatch(
    /stored another API key .*\(SETTINGS_OUTDATED\)\n {2}pulumi up/,
  );
  expect(await project.fail("refresh", "--yes", "--skip-preview")).toMatch(/\(OTHER_ACCOUNT\)/);
  expect(await project.up()).toMatch(/\+ 1 created/);
  expect(await project.refresh()).toMatch(/unchanged/);
  expect([count("default"), count("other")]).toEqual([3, 0]);

  // The same account, a new key, and nothing there any more.
  for (const { id } of emulator.endpoints()) emulator.remove(id);
  emulator.rotateKey(API_KEY, "k3y-again");
  await setKey("k3y-again");
  const [, forget = ""] =
    /forget them and run `pulumi up`: (pulumi state delete .*?)(?: \(OTHER_ACCOUNT\))?$/m.exec(
      await project.failUp(),
    ) ?? [];
  expect(forget.match(/pulumi state delete/g)).toHaveLength(3);
  for (const line of forget.split(" && "))
    await project.succeed(...line.replaceAll("'", "").split(" ").slice(1));
  expect(await project.up()).toMatch(/\+ 3 created/);
  expect([count("default"), count("other")]).toEqual([3, 0]);

  // A provider of a new name, with the other key.
  moved(more);
  await project.up();
  expect([count("default"), count("other")]).toEqual([0, 3]);
  expect(await project.preview()).toMatch(/unchanged/);
});

test("what a move leaves behind in an account whose key is lost counts as gone, with a warning", async () => {
  const own = PATHS.slice(0, 2);
  project.declare(allAt(own));
  await project.up();
  await setKey(OTHER_KEY);
  // It stores the wrong key.
  await project.failUp();
  moved(own);
  expect(await project.up()).toMatch(/which was replaced, is not in the account of today's API key/);
  expect([count("default"), count("other")]).toEqual([2, 2]);
  expect(Object.keys(project.endpoints()).sort()).toEqual(own);
  expect(await project.preview()).toMatch(/unchanged/);
});

test("what another project has is not adopted, and doctor --all asks which of two stacks keeps what both have", async () => {
  project.declare(allAt(PATHS.slice(0, 2)));
  await project.up();
  const second = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY },
    env: { PULUMI_BACKEND_URL: project.env.PULUMI_BACKEND_URL ?? "" },
  });
  try {
    second.write("Pulumi.yaml", JAVASCRIPT.replace("name: test", "name: mail"));
    second.declare(allAt(PATHS.slice(0, 2)));
    expect(await second.failUp()).toMatch(
      /If another stack has it \(`npx pulumi-webhook-endpoints get wh_\w+ --all` tells, with --json its URN, too\)[\s\S]*unless another stack has it[\s\S]*ENDPOINT_EXISTS/,
    );
    second.env.WEBHOOKS_IF_EXISTS = "adopt";
    expect(await second.failUp()).toMatch(/of the stack organization\/test\/dev has it[\s\S]*ADOPT_TAKEN/);
    const doctor = await run("doctor");
    expect(doctor.output).toMatch(/Not checked: the stacks of other projects, .* doctor --all/);
  } finally {
    second.dispose();
  }
  expect(await project.preview()).toMatch(/3 unchanged/);
  expect(ids()).toHaveLength(2);
});
