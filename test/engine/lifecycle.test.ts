import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import type { Registered } from "../provider/fakeService";
import { secret } from "../receiver/support";
import { always, closeServers, ours, serve } from "../validation/receivers";
import { PulumiCloud } from "./cloud/pulumiCloud";
import { HttpService } from "./httpService";
import { API_KEY, allAt, at, type Declared, Project } from "./project";

jest.setTimeout(300_000);

// One stack for all: each test begins with what the one before it left.
let service: HttpService;
let project: Project;
let cloud: PulumiCloud;
/** Another stack's endpoint, which the program reads. */
let theirs: Registered;
let receiver: string;
let respond = ours(secret);
beforeAll(async () => {
  service = await HttpService.start({}, { staging: "key-of-staging" });
  cloud = await PulumiCloud.start();
  project = new Project({ config: service.config, cloud });
  theirs = service.add({ url: "https://hooks.example.com/theirs" });
  receiver = await serve((request, response) => respond(request, response));
});
afterAll(async () => {
  project.dispose();
  await closeServers();
  await service.stop();
  await cloud.stop();
});

const grouped = allAt(["grouped"]);
const staged = allAt(["staged1", "staged2", "staged3"]);
const validated = allAt(["validated"]);

/** Declares endpoints, and in addition another account, a component, a validated receiver, a secret url, and what is only read. */
function declare(declared: Declared, [token, key]: readonly [string, string], queries = ""): Declared {
  const url = `Buffer.from("${Buffer.from(at(token).url).toString("base64")}", "base64").toString()`;
  project.declare(
    declared,
    `
const staging = new WebhooksProvider("staging", { apiKey: "${key}" });
const group = new pulumi.ComponentResource("test:index:Group", "group");
const declare = (all, opts) => Object.entries(all).forEach(([name, args]) => new WebhookEndpoint(name, args, opts));
declare(${JSON.stringify(grouped)}, { parent: group });
declare(${JSON.stringify(staged)}, { provider: staging });
const proven = new ReceiverValidation("proven", { url: "${receiver}", secrets: ["${secret}"], timeoutSeconds: 90 });
declare(${JSON.stringify(validated)}, { dependsOn: proven });
const secret = new WebhookEndpoint("secret", { url: pulumi.secret(${url}), type: "production" });
const dependent = new WebhookEndpoint("dependent", { url: pulumi.interpolate\`https://hooks.example.com/by/\${secret.id}\`, type: "production" });
const read = WebhookEndpoint.get("read", "${theirs.id}");
exports.outputs = { url: secret.url, read: read.url };
${queries}`,
  );
  const others = { ...grouped, ...staged, ...validated, secret: at(token) };
  return { ...declared, ...others, dependent: { type: "production" } };
}

const unchanged: Declared = {
  ...allAt(["edited", "same"]),
  duplicate: at("same"),
  gone: at("gone", { ip: "203.0.113.0/24" }),
};
const first: Declared = {
  ...unchanged,
  ...allAt(["url", "one", "two", "old", "bare"]),
  ip: at("ip", { ip: "203.0.113.7" }),
  before: at("before", { opts: { deleteBeforeReplace: true } }),
  kept: at("kept", { opts: { retainOnDelete: true } }),
  ignoring: at("ignoring", { opts: { ignoreChanges: ["ip"] } }),
};
const second: Declared = {
  ...unchanged,
  url: at("url2"),
  one: at("two"),
  two: at("one"),
  renamed: at("old", { opts: { aliases: [{ name: "old" }] } }),
  unaliased: at("bare"),
  ip: at("ip"),
  before: at("before", { type: "development", opts: { deleteBeforeReplace: true } }),
  ignoring: at("ignoring", { ip: "192.0.2.1", opts: { ignoreChanges: ["ip"] } }),
};
/** A secret url, and the key of the other account. */
const old = ["c0nfidential-1", "key-of-staging"] as const;
const rotated = ["c0nfidential-2", "rotated-key"] as const;

test("a plan of a preview holds in up, which registers exactly what is declared", async () => {
  const declared = declare(first, old);
  const preview = await project.preview("--diff", "--save-plan=plan.json");
  expect(preview).toMatch(/\+ 24 to create/);
  expect(preview).not.toMatch(/__/);
  expect(service.changes).toEqual([]);
  // The plan has the time of the preview's checks, which is not the up's.
  await project.up("--plan=plan.json");
  service.expectExactly(project, declared, [theirs]);
  const ofStaging = service.endpoints.filter(({ account }) => account === "staging");
  expect(ofStaging.map(({ url }) => url).sort()).toEqual(Object.values(staged).map(({ url }) => url));
  const { gone } = project.endpoints();
  expect(gone?.outputs).toMatchObject({ ...first.gone, createdAt: null, updatedAt: null });
});

test("what somebody deleted or edited, and a receiver that accepts what is broken, show in a refresh, which lists each account, and asks for what is missing", async () => {
  respond = always(200);
  const gone = project.ids().gone ?? "";
  service.remove(gone);
  Object.assign(service.find("edited") ?? {}, { url: "https://hooks.example.com/by-hand" });
  service.requests.length = 0;
  expect(await project.refresh()).toMatch(/BROKEN_ACCEPTED[\s\S]*- 2 deleted/);
  respond = ours(secret);
  // One list for each account. What is missing is asked for alone, and listed again: once more if it is so young that lists may lag.
  const asked = (operation: string) => service.requests.filter((each) => each.operation === operation);
  expect(new Set(asked("get").map(({ path }) => path))).toEqual(new Set([`/webhooks/${gone}`]));
  expect([3, 4]).toContain(asked("list").length);
  expect(service.changes).toEqual([]);
  expect(project.endpoints().edited?.outputs?.url).toMatch(/by-hand/);
});

test("a refresh with a rotated key fails, and says what to run", async () => {
  service.accounts.delete("key-of-staging");
  service.accounts.set("rotated-key", "staging");
  expect(await project.fail("refresh", "--yes", "--skip-preview")).toMatch(
    /--run-program[\s\S]*UNAUTHORIZED/,
  );
});

test("one up puts right what drifted, replaces, swaps, renames, moves, adopts, rotates a key, and registers beside on purpose", async () => {
  const found = service.add({ url: at("found").url });
  const kept = service.find("kept");
  const before = project.ids();
  service.requests.length = 0;
  const decided = {
    ...second,
    theirs: at("theirs", { ifExists: "register" }),
    found: at("found", { adoptId: found.id }),
  };
  const declared = declare(decided, rotated);
  await project.up("--diff");
  const others = kept === undefined ? [theirs] : [theirs, kept];
  service.expectExactly(project, { ...declared, ignoring: at("ignoring") }, others);
  expect(service.find("ip")?.ip).toBeUndefined();
  const after = project.ids();
  const same = ["same", "duplicate", "ignoring", "grouped", "validated", ...Object.keys(staged)];
  expect(same.map((name) => after[name])).toEqual(same.map((name) => before[name]));
  expect([after.renamed, after.found]).toEqual([before.old, found.id]);
  const position = (operation: string, text: string) =>
    service.requests.findIndex(
      (each) => each.operation === operation && `${each.path}${each.body}`.includes(text),
    );
  expect(position("register", "/url2")).toBeLessThan(position("delete", `${before.url}`));
  expect(position("delete", `${before.before}`)).toBeLessThan(position("register", "/before"));
  expect(position("register", "/found")).toBe(-1);
});

test("an endpoint from an import file is a full resource, and an up with a refresh then changes nothing", async () => {
  const { id } = service.add({ url: at("imported").url });
  const properties = { ...at("imported"), __provider: PROVIDER_CODE };
  const entry = { type: TYPE_TOKEN, name: "imported", id, inputs: properties, outputs: properties };
  project.write("import.json", JSON.stringify({ resources: [entry] }));
  await project.succeed(
    "import",
    "--file",
    "import.json",
    "--yes",
    "--skip-preview",
    "--generate-code=false",
  );
  const decided = {
    theirs: at("theirs"),
    found: at("found"),
    imported: at("imported", { opts: { protect: true } }),
  };
  const queries = `
exports.theirs = getWebhookEndpoint({ id: read.id }).url;
exports.all = pulumi.unsecret(getWebhookEndpoints()).apply((all) => all.length);
exports.none = getWebhookEndpoints({ url: "https://none.example.com" }, { provider: staging }).apply((all) => all.length);`;
  declare({ ...second, ...decided }, rotated, queries);
  service.requests.length = 0;
  expect(await project.up("--refresh")).toMatch(/Resources:\s+\d+ unchanged\s+Duration/);
  expect(service.changes).toEqual([]);
  const hidden = { outputs: { url: "[secret]", read: "[secret]" }, theirs: "[secret]", none: "[secret]" };
  expect(await project.outputs()).toMatchObject({ ...hidden, all: expect.any(Number) });
  const { imported, gone } = project.endpoints();
  expect(imported).toMatchObject({ id, outputs: { baseUrl: service.url } });
  expect(gone?.outputs?.createdAt).toEqual(expect.any(String));
});

test("--target changes only the target, and a replacement by hand ends with a live one", async () => {
  const before = project.ids();
  declare({ one: at("target"), two: at("other"), same: at("same") }, rotated);
  const urn = (name: string) => `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;
  await project.up("--target", urn("one"), "--target-replace", urn("same"));
  const after = project.ids();
  expect([service.find("target")?.id, service.find("other")]).toEqual([after.one, undefined]);
  expect(after.same).not.toBe(before.same);
  expect(service.endpoints.map(({ id }) => id)).toContain(after.same);
  expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
});

test("destroy deletes what is this stack's, though an endpoint is gone already, and leaves what is protected and what is not", async () => {
  service.remove(project.ids().one ?? "");
  const left = ["theirs", "kept", "imported", "same"].map((path) => at(path).url);
  service.add({ url: at("same").url });
  expect(await project.fail("destroy", "--yes", "--skip-preview", "--run-program")).toMatch(/protected/);
  expect(service.endpoints.map(({ url }) => url)).toEqual(left);
  expect(Object.keys(project.ids())).toEqual(["imported"]);
});

test("neither a key nor a secret url was shown or is at rest", () => {
  project.expectHidden("c0nfidential", "key-of-staging", "rotated-key", API_KEY, secret);
});
