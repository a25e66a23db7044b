import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import type { Registered } from "../provider/fakeService";
import { API_KEY, HttpService } from "./httpService";
import { type Declared, Project } from "./project";

jest.setTimeout(300_000);

// One stack for all: each test begins with what the one before it left.
let service: HttpService;
let project: Project;
beforeAll(async () => {
  service = await HttpService.start({}, { staging: "key-of-staging" });
  project = new Project({ config: service.config });
  await project.succeed("stack", "ls");
});
afterAll(async () => {
  project.dispose();
  await service.stop();
});

const endpoint = (path: string, more: object = {}) => ({
  ...{ url: `https://hooks.example.com/${path}`, type: "production" },
  ...more,
});
const ids = async () =>
  Object.fromEntries(Object.entries(await project.endpoints()).map(([name, { id = "" }]) => [name, id]));
const failing = async (...args: string[]) => {
  const output = await project.fail(...args);
  expect(output).not.toMatch(/\n\s+at /);
  return output;
};
const strangers = new Set<Registered>();
/** Compares the state and the service with each other and with what is declared. */
async function expectExactly(declared: Declared): Promise<void> {
  const recorded = await ids();
  expect(Object.keys(recorded).sort()).toEqual(Object.keys(declared).sort());
  for (const [name, { opts: _opts, adoptId: _adoptId, ...args }] of Object.entries(declared))
    expect(service.endpoints.find(({ id }) => id === recorded[name])).toMatchObject(args);
  const rest = service.endpoints.filter(({ id }) => !Object.values(recorded).includes(id));
  expect(rest).toEqual([...strangers]);
}
test("a plan of a preview holds in up, and a second up, a refresh and a preview change nothing", async () => {
  const declared = { jobs: endpoint("jobs", { ip: "203.0.113.0/24" }), sandbox: endpoint("sandbox") };
  project.declare(declared);
  const preview = await project.preview("--diff", "--save-plan=plan.json");
  expect(preview).toMatch(/\+ 2 to create|\+ 3 to create/);
  expect(preview).not.toMatch(/__/);
  expect(service.changes).toEqual([]);
  // What checks have dated in the plan is another time than that of the up.
  await project.up("--plan=plan.json");
  await expectExactly(declared);
  const { jobs } = await project.endpoints();
  expect(jobs?.outputs).toMatchObject({ ...declared.jobs, createdAt: null, updatedAt: null });
  service.requests.length = 0;
  expect(await project.up("--refresh")).toMatch(/\b3 unchanged/);
  await project.preview("--diff", "--expect-no-changes");
  expect(service.changes).toEqual([]);
  expect((await project.endpoints()).jobs?.outputs?.createdAt).toEqual(expect.any(String));
  const held = Object.values(await project.endpoints());
  const bytes = (replacer?: (key: string, value: unknown) => unknown) =>
    JSON.stringify(held, replacer).length;
  // At most 1.2 times what it takes without the provider's code.
  expect(bytes() / bytes((key, value) => (key === "__provider" ? undefined : value))).toBeLessThan(1.2);
});

test("what somebody deleted or edited shows in a refresh, and the next up puts it right", async () => {
  const before = await ids();
  service.remove(before.jobs ?? "");
  Object.assign(service.find("sandbox") ?? {}, { url: "https://hooks.example.com/edited" });
  service.requests.length = 0;
  expect(await project.refresh()).toMatch(/~ 1 updated[\s\S]*- 1 deleted/);
  expect(service.requests.map(({ operation }) => operation)).toEqual(["list", "get"]);
  expect((await project.endpoints()).sandbox?.outputs?.url).toMatch(/edited/);
  await project.up();
  await expectExactly({ jobs: endpoint("jobs", { ip: "203.0.113.0/24" }), sandbox: endpoint("sandbox") });
});

test("replacements register first, but with deleteBeforeReplace; renames, swaps, moves and equal resources get what is declared", async () => {
  const given = {
    url: endpoint("url"),
    ip: endpoint("ip", { ip: "203.0.113.7" }),
    first: endpoint("first", { opts: { deleteBeforeReplace: true } }),
    ...{ one: endpoint("1"), two: endpoint("2"), old: endpoint("old"), bare: endpoint("bare") },
    ...{ same: endpoint("same"), twin: endpoint("same") },
  };
  project.declare(given);
  await project.up();
  const before = await ids();
  const declared = {
    url: endpoint("url2"),
    ip: endpoint("ip"),
    first: endpoint("first", { type: "development", opts: { deleteBeforeReplace: true } }),
    ...{ one: endpoint("2"), two: endpoint("1"), same: endpoint("same"), twin: endpoint("same") },
    renamed: endpoint("old", { opts: { aliases: [{ name: "old" }] } }),
    unaliased: endpoint("bare"),
  };
  project.declare(declared);
  service.requests.length = 0;
  expect(await project.up()).toMatch(/5 replaced/);
  await expectExactly(declared);
  const after = await ids();
  expect([after.renamed, after.same, after.twin]).toEqual([before.old, before.same, before.twin]);
  const position = (operation: string, text: string) =>
    service.requests.findIndex(
      (each) => each.operation === operation && `${each.path}${each.body}`.includes(text),
    );
  expect(position("register", "/url2")).toBeLessThan(position("delete", `${before.url}`));
  expect(position("delete", `${before.first}`)).toBeLessThan(position("register", "/first"));
});

test("--target changes only the target, and a replacement by hand ends with a live one", async () => {
  const before = await ids();
  project.declare({ one: endpoint("2b"), two: endpoint("1b"), same: endpoint("same") });
  await project.up("--target", project.urn("one"), "--target-replace", project.urn("same"));
  const after = await ids();
  expect([service.find("2b")?.id, service.find("1b")]).toEqual([after.one, undefined]);
  expect(after.same).not.toBe(before.same);
  expect(service.endpoints.map(({ id }) => id)).toContain(after.same);
  expect(Object.keys(after)).toHaveLength(Object.keys(before).length);
});

test("another stack's endpoint of the same url and type stops the preview, is adopted by name alone, and registered beside on purpose", async () => {
  const theirs = service.add({ url: endpoint("theirs").url });
  const found = service.add({ url: endpoint("found").url });
  strangers.add(theirs).add(found);
  const declared = { theirs: endpoint("theirs"), found: endpoint("found"), one: endpoint("2b") };
  project.declare(declared);
  const output = await failing("preview");
  expect([theirs, found].some(({ id }) => output.includes(`set adoptId: "${id}"`))).toBe(true);
  for (const part of ["ENDPOINT_EXISTS", "pulumi state move", 'ifExists: "register"'])
    expect(output).toContain(part);
  const decided = {
    ...declared,
    theirs: endpoint("theirs", { ifExists: "register" }),
    found: endpoint("found", { adoptId: found.id }),
  };
  project.declare(decided);
  service.requests.length = 0;
  await project.up();
  strangers.delete(found);
  await expectExactly(declared);
  expect(service.requests.filter(({ body = "" }) => body.includes("found"))).toEqual([]);
});

test("an endpoint from an import file is a full resource: it previews clean, refreshes and is deleted", async () => {
  const { id } = service.add({ url: endpoint("imported").url });
  const properties = { ...endpoint("imported"), __provider: PROVIDER_CODE };
  const entry = { type: TYPE_TOKEN, name: "imported", id, inputs: properties, outputs: properties };
  project.write("import.json", JSON.stringify({ resources: [entry] }));
  const options = ["--yes", "--skip-preview", "--protect=false", "--generate-code=false"];
  await project.succeed("import", "--file", "import.json", ...options);
  const declared = { one: endpoint("2b"), imported: endpoint("imported") };
  const others = { theirs: endpoint("theirs"), found: endpoint("found") };
  project.declare({ ...declared, ...others });
  await project.preview("--expect-no-changes");
  await project.up("--refresh");
  const { imported } = await project.endpoints();
  expect(imported).toMatchObject({ id, outputs: { baseUrl: service.url } });
  expect(imported?.outputs).not.toHaveProperty("external");
});

/** Two accounts, components, a secret url, what is only read, and queries. */
const write = (token: string, key: string) =>
  project.inlineProgram(`
const staging = new WebhooksProvider("staging", { apiKey: ${JSON.stringify(key)} });
const group = new pulumi.ComponentResource("test:index:Group", "group");
const at = (path) => ({ url: "https://hooks.example.com/" + path, type: "production" });
new WebhookEndpoint("jobs", at("jobs"), { parent: group });
for (let i = 0; i < 5; i++) new WebhookEndpoint("staged" + i, at("jobs/" + i), { provider: staging });
const url = pulumi.secret("https://hooks.example.com/" + Buffer.from("${Buffer.from(token).toString("base64")}", "base64"));
const secret = new WebhookEndpoint("secret", { url, type: "production" });
const dependent = new WebhookEndpoint("dependent", { url: pulumi.interpolate\`https://hooks.example.com/by/\${secret.id}\`, type: "production" });
const read = WebhookEndpoint.get("read", ${JSON.stringify([...strangers][0]?.id ?? "")});
exports.outputs = { url: secret.url, read: read.url };
exports.theirs = getWebhookEndpoint({ id: read.id }).url;
exports.all = getWebhookEndpoints().apply((all) => all.length);
exports.staged = getWebhookEndpoints({ url: "https://none.example.com" }, { provider: staging }).apply((all) => all.length);
`);

test("accounts are kept apart, a rotated key replaces nothing, and neither a key nor a secret url shows anywhere", async () => {
  write("t0ken-1", "key-of-staging");
  expect(await project.preview("--diff")).toMatch(/dependent/);
  await project.up("--diff");
  const own = (account: string) => service.endpoints.filter((each) => each.account === account).length;
  expect([own("staging"), service.find("t0ken-1")?.account]).toEqual([5, "default"]);
  // Only now does the list certainly hold the secret url.
  await project.up();
  expect(await project.outputs()).toMatchObject({ outputs: { url: "[secret]" }, all: "[secret]" });

  service.accounts.delete("key-of-staging");
  service.accounts.set("rotated-key", "staging");
  service.requests.length = 0;
  expect(await failing("refresh", "--yes", "--skip-preview")).toMatch(/--run-program[\s\S]*UNAUTHORIZED/);
  write("t0ken-2", "rotated-key");
  await project.up("--diff");
  expect([own("staging"), service.find("t0ken-1"), service.find("t0ken-2")?.account]).toEqual([
    5,
    undefined,
    "default",
  ]);
  // The secret url, and the one that depends on its endpoint.
  expect([...service.changes].sort()).toEqual(["delete", "delete", "register", "register"]);
  for (const text of [project.transcript, project.filesAtRest()])
    expect(text).not.toMatch(new RegExp(`t0ken|key-of-staging|rotated-key|${API_KEY}`));
});

test("destroy empties the service, though an endpoint is gone already, and leaves what is not this stack's", async () => {
  service.remove(service.find("jobs")?.id ?? "");
  const theirs = [...strangers];
  write("t0ken-2", "rotated-key");
  await project.destroy("--run-program");
  expect(service.endpoints).toEqual(theirs);
  expect((await project.state()).resources ?? []).toEqual([]);
});
