import { type Emulator, type LoggedRequest, startEmulator } from "../../src/emulator";
import { type Declared, Project } from "./project";

jest.setTimeout(300_000);

// One stack for all: each test first brings it to what it declares, whatever the one before it left.
let emulator: Emulator;
let project: Project;

beforeAll(async () => {
  emulator = await startEmulator({ accounts: { "key-of-other": "other" } });
  project = new Project({ config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey } });
});

afterAll(async () => {
  project.dispose();
  await emulator.close();
});

const urlOf = (path: string) => `https://hooks.example.com/${path}`;
const endpoint = (path: string, more: object = {}) => ({ url: urlOf(path), type: "production", ...more });

/** Declares these, brings the stack there, and forgets the requests that it took. */
async function given(declared: Declared): Promise<void> {
  project.declare(declared);
  await project.up();
  for (const { id } of strangers(await ids())) emulator.remove(id);
  emulator.clearRequests();
}

/** The ids in the state, by the name of the resource. */
async function ids(): Promise<Record<string, string>> {
  const recorded = Object.entries(await project.endpoints());
  return Object.fromEntries(recorded.map(([name, { id = "" }]) => [name, id]));
}

/** What is at the service, but belongs to no resource. */
function strangers(known: Record<string, string>) {
  return emulator.endpoints().filter(({ id }) => !Object.values(known).includes(id));
}

/** The requests that change the service, in their order. */
function changes(): readonly LoggedRequest[] {
  return emulator.requests.filter(({ method }) => method !== "GET");
}

const idIn = ({ path }: LoggedRequest) => path.split("/").at(-1);

/** Holds the state and the service against each other and against what is declared. */
async function expectExactly(declared: Record<string, object>): Promise<void> {
  const recorded = await ids();
  expect(Object.keys(recorded).sort()).toEqual(Object.keys(declared).sort());
  for (const [name, args] of Object.entries(declared)) {
    expect(emulator.endpoints().find(({ id }) => id === recorded[name])).toMatchObject(args);
  }
  expect(strangers(recorded)).toEqual([]);
}

describe("up, preview and refresh", () => {
  it("preview and up register what is declared, and a second up changes nothing", async () => {
    await given({});
    const declared = { jobs: endpoint("jobs", { ip: "203.0.113.0/24" }), sandbox: endpoint("sandbox") };
    project.declare(declared);
    expect(await project.preview()).toMatch(/\+ 2 to create/);
    expect(changes()).toEqual([]);

    await project.up();
    await expectExactly(declared);
    const { jobs } = await project.endpoints();
    expect(jobs?.outputs).toMatchObject({ ...declared.jobs, createdAt: null, updatedAt: null });

    emulator.clearRequests();
    expect(await project.up()).toMatch(/\b3 unchanged/);
    // Times that were not known before are no change.
    expect(await project.refresh()).toMatch(/\b3 unchanged/);
    expect(await project.up("--refresh")).toMatch(/\b3 unchanged/);
    expect(await project.preview("--diff", "--expect-no-changes")).toMatch(/\b3 unchanged/);
    expect(await project.refresh("--expect-no-changes")).toMatch(/\b3 unchanged/);
    expect(changes()).toEqual([]);
    const { jobs: refreshed } = await project.endpoints();
    const registered = emulator.endpoints().find(({ id }) => id === refreshed?.id);
    expect(refreshed?.outputs?.createdAt).toBe(registered?.createdAt);
  });

  it("refresh drops exactly the endpoint that was deleted outside Pulumi, and up registers it again", async () => {
    const declared = { kept: endpoint("kept"), gone: endpoint("gone") };
    await given(declared);
    const before = await ids();
    emulator.remove(before.gone ?? "");
    expect(await project.refresh()).toMatch(/gone deleted[\s\S]*- 1 deleted[\s\S]*2 unchanged/);
    expect(await ids()).toEqual({ kept: before.kept });

    await project.up();
    await expectExactly(declared);
    const after = await ids();
    expect(after.kept).toBe(before.kept);

    emulator.remove(after.gone ?? "");
    await project.up("--refresh");
    await expectExactly(declared);
    expect((await ids()).kept).toBe(before.kept);
  });

  it("refresh shows what somebody edited outside Pulumi, and up puts it right", async () => {
    const declared = { url: endpoint("url"), type: endpoint("type"), same: endpoint("same") };
    await given(declared);
    const before = await ids();
    emulator.edit(before.url ?? "", { url: urlOf("elsewhere") });
    emulator.edit(before.type ?? "", { type: "development" });
    expect(await project.preview("--refresh", "--diff")).toContain("elsewhere");
    expect(await project.refresh()).toMatch(/~ 2 updated[\s\S]*2 unchanged/);
    const seen = await project.endpoints();
    expect(seen.url?.outputs?.url).toBe(urlOf("elsewhere"));
    expect(seen.type?.outputs?.type).toBe("development");

    await project.up();
    await expectExactly(declared);
    expect((await ids()).same).toBe(before.same);
  });
});

describe("a change", () => {
  it("a change of url, type or ip registers the new endpoint before it deletes the old one", async () => {
    await given({
      url: endpoint("a"),
      type: endpoint("b"),
      ip: endpoint("c", { ip: "203.0.113.7" }),
      noIp: endpoint("d", { ip: "203.0.113.7" }),
      first: endpoint("e", { opts: { deleteBeforeReplace: true } }),
      same: endpoint("f"),
    });
    const before = await ids();
    const declared = {
      url: endpoint("a2"),
      type: endpoint("b", { type: "development" }),
      ip: endpoint("c", { ip: "203.0.113.8" }),
      noIp: endpoint("d"),
      first: endpoint("e2"),
      same: endpoint("f"),
    };
    project.declare({ ...declared, first: { ...declared.first, opts: { deleteBeforeReplace: true } } });
    expect(await project.preview()).toMatch(/\+-5 to replace/);
    expect(changes()).toEqual([]);

    expect(await project.up()).toMatch(/5 replaced[\s\S]*2 unchanged/);
    await expectExactly(declared);
    expect(emulator.endpoints().find(({ url }) => url === urlOf("d"))?.ip).toBeUndefined();
    const after = await ids();
    expect(after.same).toBe(before.same);
    const order = changes();
    const deletedAt = (name: string) => order.findIndex((request) => idIn(request) === before[name]);
    const registeredAt = (url: string) =>
      order.findIndex(({ method, body }) => method === "POST" && (body as { url: string }).url === url);
    expect(order).toHaveLength(10);
    for (const name of ["url", "type", "ip", "noIp"] as const) {
      expect(registeredAt(declared[name].url)).toBeGreaterThanOrEqual(0);
      expect(registeredAt(declared[name].url)).toBeLessThan(deletedAt(name));
    }
    expect(registeredAt(urlOf("e2"))).toBeGreaterThan(deletedAt("first"));
  });

  it("swapping the urls of two resources ends with both urls registered", async () => {
    await given({ a: endpoint("1"), b: endpoint("2") });
    const swapped = { a: endpoint("2"), b: endpoint("1") };
    project.declare(swapped);
    await project.up();
    await expectExactly(swapped);
  });

  it("up --target changes only the target", async () => {
    await given({ a: endpoint("1"), b: endpoint("2") });
    project.declare({ a: endpoint("1a"), b: endpoint("2b"), c: endpoint("3") });
    await project.up("--target", project.urn("a"));
    await expectExactly({ a: endpoint("1a"), b: endpoint("2") });
    await project.destroy("--target", project.urn("b"));
    await expectExactly({ a: endpoint("1a") });
    await project.up();
    await expectExactly({ a: endpoint("1a"), b: endpoint("2b"), c: endpoint("3") });
  });

  it("a rename with an alias keeps the endpoint, and without one ends with a live endpoint", async () => {
    await given({ old: endpoint("1"), other: endpoint("2") });
    const before = await ids();
    project.declare({
      renamed: endpoint("1", { opts: { aliases: [{ name: "old" }] } }),
      other: endpoint("2"),
    });
    expect(await project.up()).toMatch(/3 unchanged/);
    expect(changes()).toEqual([]);
    expect(await ids()).toEqual({ renamed: before.old, other: before.other });

    project.declare({ again: endpoint("1"), other: endpoint("2") });
    expect(await project.preview()).toMatch(/already has an endpoint[\s\S]*adoptId[\s\S]*alias/);
    await project.up();
    await expectExactly({ again: endpoint("1"), other: endpoint("2") });
    expect((await ids()).other).toBe(before.other);
  });

  it("up --replace ends with a live endpoint", async () => {
    await given({ a: endpoint("1"), b: endpoint("2") });
    const before = await ids();
    await project.up("--replace", project.urn("a"));
    await expectExactly({ a: endpoint("1"), b: endpoint("2") });
    expect((await ids()).b).toBe(before.b);
    expect((await ids()).a).not.toBe(before.a);
    expect(changes().map(({ method }) => method)).toEqual(["POST", "DELETE"]);
  });
});

describe("the engine's options", () => {
  it("a protected endpoint is not deleted, and a retained one stays at the service", async () => {
    await given({
      protected: endpoint("1", { opts: { protect: true } }),
      retained: endpoint("2", { opts: { retainOnDelete: true } }),
    });
    const before = await ids();
    project.declare({});
    const refused = await project.pulumi("up", "--yes", "--skip-preview");
    expect(refused.exitCode).not.toBe(0);
    expect(refused.output).toMatch(/protect/);
    expect((await project.pulumi("destroy", "--yes", "--skip-preview")).exitCode).not.toBe(0);
    expect(emulator.endpoints().map(({ id }) => id)).toContain(before.protected);

    // Only the option changes, which the service knows nothing about.
    emulator.clearRequests();
    project.declare({ protected: endpoint("1") });
    await project.up();
    expect(changes()).toEqual([]);
    expect(await ids()).toEqual({ protected: before.protected });
    expect(emulator.endpoints().map(({ id }) => id)).toContain(before.retained);
    emulator.remove(before.retained ?? "");
    project.declare({});
    await project.up();
    expect(emulator.endpoints()).toEqual([]);
  });

  it("an endpoint that moves to another stack is kept", async () => {
    await given({ a: endpoint("1"), b: endpoint("2") });
    const before = await ids();
    await project.succeed("stack", "init", "other", "--copy-config-from", "dev", "--no-select");
    const passphrases = ["--source", "dev", "--dest", "other", "--yes"];
    await project.succeed("state", "move", ...passphrases, project.urn("a"));
    expect(changes()).toEqual([]);
    expect(await ids()).toEqual({ b: before.b });

    project.declare({ b: endpoint("2") });
    await project.up();
    project.declare({ a: endpoint("1") });
    expect(await project.up("--stack", "other")).toMatch(/2 unchanged/);
    expect(changes()).toEqual([]);
    expect((await project.endpoints("--stack", "other")).a?.id).toBe(before.a);
    await project.destroy("--stack", "other", "--remove");
    expect(emulator.endpoints().map(({ id }) => id)).toEqual([before.b]);
  });
});

describe("destroy", () => {
  it("destroy empties the service, even when some endpoints are gone already", async () => {
    const declared = { a: endpoint("1"), b: endpoint("2"), c: endpoint("3") };
    await given(declared);
    emulator.remove((await ids()).b ?? "");
    expect(await project.destroy()).toMatch(/- 4 deleted/);
    expect(emulator.endpoints()).toEqual([]);
    expect(await ids()).toEqual({});

    await given(declared);
    emulator.remove((await ids()).c ?? "");
    await project.destroy("--refresh");
    expect(emulator.endpoints()).toEqual([]);
    expect((await project.state()).resources ?? []).toEqual([]);
  });
});

describe("the state", () => {
  it("the state of an endpoint is at most 1.2 times as large as without the provider's code", async () => {
    await given(Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`endpoint${i}`, endpoint(`${i}`)])));
    const held = Object.values(await project.endpoints());
    expect(held).toHaveLength(5);
    const bytes = (state: readonly object[], replacer?: (key: string, value: unknown) => unknown) =>
      JSON.stringify(state, replacer).length;
    const floor = bytes(held, (key, value) => (key === "__provider" ? undefined : value));
    expect(floor).toBeLessThan(bytes(held));
    expect(bytes(held) / floor).toBeLessThan(1.2);
  });
});

describe("an endpoint that is managed elsewhere", () => {
  it("an endpoint that is managed elsewhere is read by get and by the queries, and neither changed nor deleted", async () => {
    await given({});
    const foreign = emulator.add({ url: urlOf("foreign"), type: "development" });
    emulator.add({ url: urlOf("second"), type: "production" });
    project.inlineProgram(`
const read = WebhookEndpoint.get("read", ${JSON.stringify(foreign.id)});
exports.read = { id: read.id, url: read.url, type: read.type, createdAt: read.createdAt };
exports.one = getWebhookEndpoint({ id: ${JSON.stringify(foreign.id)} }).url;
exports.all = getWebhookEndpoints().apply((all) => all.length);
exports.some = getWebhookEndpoints({ url: "HTTPS://hooks.EXAMPLE.com:443/foreign", type: "development" }).apply((all) => all.map(({ id }) => id));
`);
    await project.up();
    const { id, url, type, createdAt } = foreign;
    expect(await project.outputs()).toEqual({
      read: { id, url, type, createdAt },
      one: url,
      all: 2,
      some: [id],
    });
    await project.refresh();
    await project.destroy();
    expect(emulator.endpoints()).toHaveLength(2);
    expect(changes()).toEqual([]);
    for (const { id } of emulator.endpoints()) emulator.remove(id);
  });

  it("an endpoint that get does not find is named in the error", async () => {
    await given({});
    for (const call of ['WebhookEndpoint.get("read", "wh_none")', 'getWebhookEndpoint({ id: "wh_none" })']) {
      project.program(`${call};`);
      const { exitCode, output } = await project.pulumi("preview");
      expect(exitCode).not.toBe(0);
      expect(output).toMatch(/wh_none/);
      expect(output).not.toMatch(/\n\s+at /);
    }
  });
});

describe("several accounts", () => {
  const program = (keys: { first: string; other: string }) => `
const first = new WebhooksProvider("first", { apiKey: ${JSON.stringify(keys.first)} });
const other = new WebhooksProvider("other", { apiKey: ${JSON.stringify(keys.other)}, timeoutSeconds: 20 });
for (let i = 0; i < 10; i++) {
  new WebhookEndpoint("first" + i, { url: "https://hooks.example.com/first/" + i, type: "production" }, { provider: first });
  new WebhookEndpoint("other" + i, { url: "https://hooks.example.com/other/" + i, type: "production" }, { provider: other });
}
exports.others = getWebhookEndpoints({}, { provider: other }).apply((all) => all.length);
`;
  const account = (name: string) =>
    emulator.endpoints(name).map(({ url }) => new URL(url).pathname.split("/")[1]);

  it("several accounts are kept apart in parallel, and a rotated key replaces nothing", async () => {
    await given({});
    project.inlineProgram(program({ first: emulator.apiKey, other: "key-of-other" }));
    await project.up();
    expect(account("default")).toEqual(Array(10).fill("first"));
    expect(account("other")).toEqual(Array(10).fill("other"));

    emulator.rotateKey("key-of-other", "rotated-key-of-other");
    emulator.clearRequests();
    project.inlineProgram(program({ first: emulator.apiKey, other: "rotated-key-of-other" }));
    expect(await project.up()).not.toMatch(/replaced|created/);
    expect(changes()).toEqual([]);
    expect(await project.outputs()).toEqual({ others: 10 });
    // The state holds the new key now.
    expect(await project.refresh()).not.toMatch(/deleted|updated/);

    // The keys were passed as plain text.
    for (const text of [project.transcript, project.filesAtRest()]) {
      for (const key of [emulator.apiKey, "key-of-other"]) expect(text).not.toContain(key);
    }
    await project.destroy();
    expect(emulator.endpoints()).toEqual([]);
    project.declare({});
  });
});

describe("a url that is a secret", () => {
  it("a secret url is shown nowhere", async () => {
    await given({});
    const program = (token: string) => `
const url = pulumi.secret("https://hooks.example.com/" + Buffer.from("${Buffer.from(token).toString("base64")}", "base64"));
const endpoint = new WebhookEndpoint("secret", { url, type: "production" });
exports.url = endpoint.url;
exports.id = endpoint.id;
exports.found = getWebhookEndpoints({ url: endpoint.url }).apply((all) => all.map(({ url }) => url));
`;
    project.inlineProgram(program("t0ken-1"));
    await project.preview("--diff");
    await project.up("--diff");
    expect(emulator.endpoints().map(({ url }) => url)).toEqual([urlOf("t0ken-1")]);
    const { secret: id = "" } = await ids();
    await project.refresh("--diff");
    expect(await project.outputs()).toEqual({ url: "[secret]", id, found: "[secret]" });
    emulator.edit(id, { url: urlOf("t0ken-edited") });
    await project.refresh("--diff");
    project.inlineProgram(program("t0ken-2"));
    await project.up("--diff");
    expect(emulator.endpoints().map(({ url }) => url)).toEqual([urlOf("t0ken-2")]);
    // Somebody else's with the same url: named, but not by its token.
    project.inlineProgram(`${program("t0ken-2")}new WebhookEndpoint("twin", { url, type: "production" });`);
    expect(await project.up("--diff")).toMatch(/already has an endpoint/);
    await project.succeed("stack", "--show-urns");
    await project.succeed("stack", "export");
    await project.destroy();
    expect(project.transcript).not.toMatch(/t0ken/);
    expect(project.filesAtRest()).not.toMatch(/t0ken/);
  });
});
