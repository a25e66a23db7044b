import { type Emulator, startEmulator } from "../../src/emulator";
import { type Backend, backend, interrupted, recorded, SECRET_URL } from "./backend";
import { API_KEY, run, runBin } from "./running";

/** When the endpoints are registered, and when the interrupted run was. */
const at = Date.now();
let service: Emulator;
let count: number;
beforeEach(async () => {
  count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}` });
});
afterEach(() => service.close());

const add = (...urls: string[]) => {
  for (const url of urls) service.add({ url, type: "production", createdAt: new Date(at).toISOString() });
};
const command = (args: readonly string[], given: Partial<Backend> = {}) =>
  run(["adopt", ...args], { pulumi: backend({ baseUrl: service.url, own: { prod: {} }, ...given }) });
const jobs = "https://hooks.example.com/jobs";

test("adopt writes a program that takes over the orphans in the selected stack alone, and sends nothing that changes anything", async () => {
  add(jobs);
  const { status, stdout, stderr } = await command([]);
  expect(stdout).toBe(`import * as pulumi from "@pulumi/pulumi";
import { WebhookEndpoint } from "pulumi-webhook-endpoints";

// For one stack only: \`pulumi destroy\` deletes what a stack has adopted.
if (pulumi.getStack() === "prod") {
  new WebhookEndpoint("hooks-example-com-jobs", {
    url: "https://hooks.example.com/jobs",
    type: "production",
    adoptId: "wh_1",
  });
}
`);
  expect(stderr).toMatch(/`pulumi up`.*shows "create", and registers nothing/);
  expect(stderr).toMatch(/program declares one of these urls already.*WEBHOOKS_IF_EXISTS=adopt pulumi up/);
  expect(status).toBe(0);
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
});

test("adopt --native writes a file for pulumi import", async () => {
  add(jobs);
  const { stdout, stderr } = await command(["--native", "--stack", "prod"]);
  expect(JSON.parse(stdout)).toEqual({
    resources: [{ type: "webhooks:index:WebhookEndpoint", name: "hooks-example-com-jobs", id: "wh_1" }],
  });
  expect(stderr).toMatch(/pulumi import --file <this file> --stack prod/);
});

test("resources are named after host and path, without what may be a token, and told apart by their id", async () => {
  const token = "q1W2e3R4t5Y6u7I8o9P0a1S2d3F4";
  const others = [
    "https://10.0.0.1/X/",
    `https://t.example.com/${token}?t=${token}`,
    "https://taken.example.com",
  ];
  add(jobs, "https://hooks.example.com/jobs?second", ...others);
  const own = {
    prod: { resources: [recorded("taken-example-com", { id: "wh_0", url: "https://x.example.com" })] },
  };
  const { adoptions, code } = JSON.parse((await command(["--json"], { own })).stdout) as {
    adoptions: { name: string }[];
    code: string;
  };
  expect(adoptions[0]).toEqual({ name: "hooks-example-com-jobs", id: "wh_1", url: jobs, type: "production" });
  expect(code).toContain('adoptId: "wh_1"');
  expect(adoptions.map(({ name }) => name)).toEqual([
    "hooks-example-com-jobs",
    expect.stringMatching(/^hooks-example-com-jobs-[0-9a-f]{8}$/),
    "10-0-0-1-x",
    "t-example-com",
    expect.stringMatching(/^taken-example-com-[0-9a-f]{8}$/),
  ]);
  expect(new Set(adoptions.map(({ name }) => name)).size).toBe(5);
});

test("a url cannot leave its string or turn the text around, and one that no program may declare is refused", async () => {
  const { id } = service.add({ url: 'https://a.example.com/"+evil()+"\u202e', type: "production" });
  const { stdout } = await command([id]);
  expect(stdout).toContain(String.raw`url: "https://a.example.com/\"+evil()+\"\u202e",`);
  service.edit(id, { url: "https://a.example.com/#part" });
  expect((await command([id])).stderr).toMatch(
    /nothing was adopted, because wh_1 cannot be: .*fragment.*\(NOT_ADOPTABLE\)/,
  );
});

test.each<[what: string, given: Partial<Backend>, why: RegExp]>([
  [
    "a resource has",
    { own: { prod: { resources: [recorded("jobs", { id: "wh_1", url: jobs })] } } },
    /managed by jobs in shop\/dev/,
  ],
  [
    "an interrupted run may have registered",
    { own: { prod: { pending_operations: [interrupted("jobs", { url: jobs, type: "production", at })] } } },
    /an interrupted run of jobs in shop\/dev may have registered it/,
  ],
  [
    "has a url that a stack keeps as a secret",
    { own: { prod: { resources: [recorded("jobs", { id: "wh_2", url: SECRET_URL, type: "production" })] } } },
    /its url is a secret/,
  ],
])("adopt refuses an endpoint by its id that %s, and leaves it out otherwise", async (_what, given, why) => {
  add(jobs, jobs);
  const named = await command(["wh_1"], given);
  expect(named).toMatchObject({ status: 1, stdout: "" });
  expect(named.stderr).toMatch(why);
  expect(named.stderr).toMatch(/\(NOT_ADOPTABLE\)\n$/);
  const all = await command([], given);
  expect(all.status).toBe(0);
  expect(all.stdout).not.toContain("wh_1");
});

test("adopt leaves out a duplicate of a managed endpoint, unless it is named", async () => {
  add(jobs, jobs);
  const own = { prod: { resources: [recorded("jobs", { id: "wh_1", url: jobs, type: "production" })] } };
  const all = await command([], { own });
  expect(all.stdout).toBe("");
  expect(all.stderr).toMatch(
    /wh_2 is left out: it has the url and type of jobs in shop\/dev.*\nThere is nothing to adopt/,
  );
  expect((await command(["wh_2"], { own })).stdout).toContain('adoptId: "wh_2"');
});

test("adopt never writes the API key that a url holds", async () => {
  add(`https://hooks.example.com/${API_KEY}`);
  const { status, stderr } = await command(["wh_1"]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/its url is a secret/);
});

test("adopt writes nothing where a stack cannot be read, where no stack is selected, and without a stack", async () => {
  add(jobs);
  const unreadable = await command([], { others: { x: "denied" } });
  expect(unreadable).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringContaining("(OWNERSHIP_UNKNOWN)"),
  });
  const unselected = await command(["--stack", "prod"], { own: { other: {} } });
  expect(unselected).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringMatching(/no stack is selected.*\(WRONG_USE\)/),
  });
  const env = { WEBHOOKS_BASE_URL: service.url, WEBHOOKS_API_KEY: API_KEY, PATH: "/nowhere" };
  expect(await runBin(["adopt"], env)).toMatchObject({
    status: 1,
    stdout: "",
    stderr: expect.stringContaining("(OWNERSHIP_UNKNOWN)"),
  });
});
