import { type Emulator, startEmulator } from "../../src/emulator";
import type { Deployment } from "../../src/provider/facts/exportedState";
import { type Backend, backend, interrupted, recorded, SECRET_URL } from "./backend";
import { API_KEY, run } from "./running";

const AGE_MS = 5_400_000;
let service: Emulator;
let count: number;
beforeEach(async () => {
  count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}` });
});
afterEach(() => service.close());

/** Registers endpoints that are an hour and a half old, or some minutes more: wh_1, wh_2 and so on. */
function add(...urls: string[]) {
  for (const [at, url] of urls.entries())
    service.add({
      url: `https://hooks.example.com/${url}`,
      type: "development",
      createdAt: new Date(Date.now() - AGE_MS - at * 60_000).toISOString(),
    });
}

const own = (url: string | object, id = "wh_1") => ({ dev: { resources: [recorded("jobs", { id, url })] } });
const elsewhere = (url: string | object, id = "wh_2") => ({
  "organization/mail/dev": { resources: [recorded("mails", { id, url, stack: "mail/dev" })] },
});
const command = (args: readonly string[], given: Partial<Backend> = {}) =>
  run(args, { pulumi: backend({ baseUrl: service.url, ...given }) });

test("list shows every endpoint, its age and the resource of this project that has it", async () => {
  add("jobs", "mails");
  const given = {
    own: own("https://hooks.example.com/jobs"),
    others: elsewhere("https://hooks.example.com/mails"),
  };
  const { status, stdout, stderr } = await command(["list"], given);
  expect(status).toBe(0);
  expect(stdout).toBe(
    `ID    TYPE         AGE  URL                             MANAGED BY
wh_1  development  1h   https://hooks.example.com/jobs  jobs in shop/dev
wh_2  development  1h   https://hooks.example.com/…     no stack of this project
`,
  );
  expect(stderr).toMatch(/Only the host of a url is shown .* `list --all` reads every stack/);
});

test("an account that has nothing of this project's stacks is said to be one, before anybody takes all for lost", async () => {
  const given = { own: own("https://hooks.example.com/jobs") };
  const note =
    /^The stacks of this project have 1 endpoint, and the account of this API key has none of them: npx pulumi-webhook-endpoints doctor says why\.$/m;
  expect((await command(["list"], given)).stderr).toMatch(note);
  expect((await command(["list"])).stderr).not.toMatch(note);
  const had = { id: "wh_1", url: "https://hooks.example.com/jobs" };
  const deleted = { ...recorded("jobs", had), pendingReplacement: true };
  expect((await command(["list"], { own: { dev: { resources: [deleted] } } })).stderr).not.toMatch(note);
  add("jobs");
  expect((await command(["list"], given)).stderr).not.toMatch(note);
});

test("list --all asks for the stacks once, reads those of every project, and says what none of them has", async () => {
  add("jobs", "mails", "stray");
  const given = {
    own: own("https://hooks.example.com/jobs"),
    others: elsewhere("https://hooks.example.com/mails"),
  };
  const pulumi = jest.fn(backend({ baseUrl: service.url, ...given }));
  const { stdout, stderr } = await run(["list", "--all"], { pulumi });
  const asked = pulumi.mock.calls.map(([args]) => args.slice(0, 2).join(" "));
  expect(asked).toEqual(["config --json", "stack ls", "stack export", "stack export"]);
  expect(stdout).toMatch(/^wh_1 .*\/jobs +jobs in shop\/dev$/m);
  expect(stdout).toMatch(/^wh_2 .*\/mails +mails in mail\/dev$/m);
  expect(stdout).toMatch(/^wh_3 .*\/stray +no stack$/m);
  expect(stderr).toBe("");
});

test("list names the organization of a stack, if it is not the default one", async () => {
  add("a", "b", "c");
  const has = (id: string) => ({ resources: [recorded("jobs", { id, url: "https://hooks.example.com/x" })] });
  const given = {
    own: { dev: has("wh_1"), "tester/dev": has("wh_2") },
    others: { "tester/mail/dev": has("wh_3") },
  };
  const { stdout } = await command(["list", "--all"], given);
  const shown = [...stdout.matchAll(/jobs in (\S+)$/gm)].map(([, where]) => where);
  expect(shown).toEqual(["shop/dev", "tester/shop/dev", "tester/shop/dev"]);
});

test("list --orphans reads every stack, and shows only what nobody has", async () => {
  add("jobs", "mails", "stray", "killed");
  const at = Date.now() - AGE_MS - 4 * 60_000;
  const killed = {
    pending_operations: [interrupted("killed", { url: "https://hooks.example.com/killed", at })],
  };
  const given = { own: { ...own("https://hooks.example.com/jobs"), prod: killed }, others: elsewhere("x") };
  const { stdout } = await command(["list", "--orphans", "--json"], given);
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({ id: "wh_3", url: "https://hooks.example.com/stray", owner: null }),
  ]);
});

test.each([null, { resources: null, pending_operations: null }])(
  "a stack whose state is %j has nothing, and can be read",
  async (state) => {
    add("stray");
    const { status, stdout } = await command(["list", "--orphans"], {
      own: { dev: state as unknown as Deployment },
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^wh_1 .*\/stray +no stack$/m);
  },
);

test.each<[what: string, given: Partial<Backend>, why: RegExp]>([
  [
    "a stack cannot be read",
    { others: { "organization/mail/dev": "denied" } },
    /the stack organization\/mail\/dev cannot be read: .*denied/,
  ],
  ["a state has an unknown format", { format: 9 }, /unknown format/],
  [
    "Pulumi leaves out stacks",
    { warning: "warning: found legacy stack files in state store:\n" },
    /pulumi state upgrade/,
  ],
  [
    "the project has no stack in the backend",
    { own: {} },
    /this folder has no project with a stack in this backend/,
  ],
])("nothing is called an orphan where %s", async (_what, given, why) => {
  add("jobs");
  const { status, stderr } = await command(["list", "--orphans"], given);
  expect(status).toBe(1);
  expect(stderr).toMatch(why);
  expect(stderr).toMatch(/\(OWNERSHIP_UNKNOWN\)\n$/);
  const plain = await command(["list", "--all"], given);
  expect(plain.status).toBe(0);
  expect(plain.stdout).not.toMatch(/no stack$/m);
});

const whole = "https://hooks.example.com/jobs";
const host = "https://hooks.example.com/…";
test.each<[what: string, given: Partial<Backend>, shown: string]>([
  ["a stack keeps as a secret", { own: own(SECRET_URL) }, host],
  ["a stack of another project may keep as a secret", { own: {}, others: { x: "denied" } }, host],
  ["a stack of another project may keep", { own: {} }, host],
  ["every stack that has it shows", { own: own(whole) }, whole],
  ["an orphan shares with a secret one", { own: own(SECRET_URL, "wh_2") }, host],
])("of a url that %s, list shows what it may", async (_what, given, shown) => {
  add("jobs", "jobs");
  const { stdout } = await command(["list", "--all", "--json"], given);
  expect(JSON.parse(stdout)[0].url).toBe(shown);
});

test("without a Pulumi project, list shows the service of the environment", async () => {
  add("jobs");
  const env = { WEBHOOKS_BASE_URL: service.url, WEBHOOKS_API_KEY: API_KEY };
  const { status, stdout, stderr } = await run(["list"], { env });
  expect(status).toBe(0);
  expect(stdout).toMatch(/https:\/\/hooks\.example\.com\/jobs +the command pulumi was not found on PATH$/m);
  expect(stderr).toMatch(/No stack of this project was read/);
});

test("a partial list and an endpoint that cannot be read are told", async () => {
  await service.close();
  const rows = [
    { id: "wh_1", url: "https://hooks.example.com/jobs", type: "development" },
    { id: "wh_2", url: "https://x.example.com", type: "odd" },
  ];
  service = await startEmulator({
    apiKey: API_KEY,
    answer: (_request, right) => ({ ...right, body: { data: rows, hasMore: true } }),
  });
  const { stdout, stderr } = await command(["list"]);
  expect(stdout).toMatch(/^wh_1 .* unknown /m);
  expect(stderr).toMatch(/only a part of its endpoints/);
  expect(stderr).toMatch(/cannot be read: wh_2/);
});

test("get shows one endpoint and its resource", async () => {
  add("jobs");
  const { status, stdout } = await command(["get", "wh_1"], { own: own("https://hooks.example.com/jobs") });
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^ID .*\nwh_1 +development +1h +https:\/\/hooks\.example\.com\/jobs +jobs in shop\/dev\n$/,
  );
  const json = await command(["get", "wh_1", "--json"], { own: own("https://hooks.example.com/jobs") });
  expect(JSON.parse(json.stdout)).toMatchObject({
    id: "wh_1",
    owner: { kind: "managed", resources: [{ stack: "dev" }] },
  });
});
