import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { newCheck, urlsOf } from "../../src/cli/checkService/endpoints";
import { list } from "../../src/cli/list";
import { type Emulator, startEmulator } from "../../src/emulator";
import { originOf } from "../../src/endpoint/origin";
import { AnotherService, anotherKey } from "../engine/anotherService";
import { read } from "../package/pages";
import { EMPTY, FakeProject, type FakeProjectOptions, KeptOutput, recorded } from "./fakeProject";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

const config = () => ({ "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey });

interface Run {
  readonly json?: boolean;
  readonly orphans?: boolean;
  readonly projectOnly?: boolean;
  readonly alsoStacks?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

async function run(
  options: Partial<FakeProjectOptions>,
  { json = true, orphans = false, projectOnly = false, alsoStacks = [], environment = {} }: Run = {},
) {
  const output = new KeptOutput(json);
  const pulumi = new FakeProject({ config: config(), ...options });
  const failure = await list({
    ...{ pulumi, output, orphans, projectOnly, alsoStacks, environment },
  }).catch((error: unknown) => error);
  return { ...output.kept, failure };
}

/** The name of each endpoint's resource if that manages it, otherwise the kind of its owner; null for an orphan. */
const ownersIn = (stdout: string): (string | null)[] =>
  JSON.parse(stdout).map(({ owner }: { owner: { kind: string; urn?: string } | null }) =>
    owner?.kind === "manages" ? owner.urn?.split("::").at(-1) : (owner?.kind ?? null),
  );

it("list shows the service's response to a refused request only with showResponses, and never the key in it", async () => {
  emulator.fault({
    operation: "list",
    times: 2,
    kind: "status",
    status: 400,
    body: `no ${emulator.apiKey}, Ida`,
  });
  const [quiet, shows] = [
    await run({}),
    await run({ config: { ...config(), "webhooks:showResponses": "true" } }),
  ];
  expect(shows.failure).toMatchObject({ code: "REJECTED" });
  expect(shows.stderr).toMatch(/the service answered 400: no .*, Ida/);
  expect(quiet.stderr).not.toContain("Ida");
  expect(shows.stderr).not.toContain(emulator.apiKey);
});

it("list names the manager from any stack, also of a resource that the next up deletes, and not one that only reads", async () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((path) =>
    emulator.add({ url: `https://a.example.com/${path}`, type: "production" }),
  );
  if (!a || !b || !c || !d) throw new Error("unreachable");
  const stacks = {
    dev: { resources: [recorded("a", a), recorded("b", { ...b, more: { delete: true } })] },
    prod: { resources: [recorded("c", { ...c, more: { external: true } })] },
  };
  const others = { "organization/other/dev": { resources: [recorded("d", d)] } };
  expect(ownersIn((await run({ stacks, others })).stdout)).toEqual(["a", "b", "reads", "d"]);
  const people = await run({ stacks, others }, { json: false });
  expect(people.stdout).toMatch(/ read by c in test\/dev$/m);
  // An id that a state holds is no orphan, whoever manages it.
  const e = emulator.add({ url: "https://a.example.com/e", type: "production" });
  const orphans = await run({ stacks, others }, { orphans: true });
  expect(JSON.parse(orphans.stdout)).toEqual([
    { id: e.id, url: e.url, type: e.type, createdAt: e.createdAt, updatedAt: e.updatedAt, owner: null },
  ]);
});

it("list --project-only reads the stacks of this project alone, and says so instead of calling anything an orphan", async () => {
  const elsewhere = emulator.add({ url: "https://a.example.com/", type: "production" });
  const others = { "organization/other/dev": { resources: [recorded("d", elsewhere)] } };
  const { stdout } = await run({ stacks: { dev: {} }, others }, { projectOnly: true, json: false });
  expect(stdout).toMatch(/ no stack of this project$/m);
  const json = await run({ stacks: { dev: {} }, others }, { projectOnly: true });
  expect(ownersIn(json.stdout)).toEqual(["unknown"]);
  const orphans = await run({ stacks: { dev: {} }, others }, { projectOnly: true, orphans: true });
  expect(orphans).toMatchObject({ stdout: "", failure: { code: "WRONG_USE" } });
});

it.each(["0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z", "1970-01-20T13:02:11Z"])(
  "list takes an endpoint that was created at %s for one of unknown age",
  async (createdAt) => {
    const service = createServer((_request, response) => {
      response.end(
        JSON.stringify([{ id: "1", url: "https://a.example.com/", type: "production", createdAt }]),
      );
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    const { port } = service.address() as AddressInfo;
    const settings = { "webhooks:baseUrl": `http://127.0.0.1:${port}`, "webhooks:apiKey": "key" };
    const { stdout } = await run({ config: settings, stacks: { dev: {} } }, { json: false });
    service.closeAllConnections();
    service.close();
    expect(stdout).toMatch(/^1 +production +unknown +/m);
  },
);

it("list prints the table of its page", async () => {
  const rows = [
    { id: "wh_5f0c2d", url: "https://hooks.example.com/jobs", type: "production", days: 41 },
    { id: "wh_81ab07", url: "https://pr-7.example.com/jobs", type: "development", days: 9 },
  ] as const;
  await emulator.close();
  let [now, made] = [Date.parse("2030-06-15T12:00:00Z"), 0];
  emulator = await startEmulator({ now: () => now, newId: () => rows[made++]?.id ?? "" });
  for (const { days, ...endpoint } of rows) {
    now -= days * 86_400_000;
    emulator.add(endpoint);
    now += days * 86_400_000;
  }
  const urn = "urn:pulumi:prod::shop::webhooks:index:WebhookEndpoint::jobs";
  const resources = [{ ...recorded("jobs", rows[0]), urn }];
  const { stdout } = await run({ stacks: { prod: { resources } } }, { json: false });
  const [, section = ""] = read("docs/command.md").split("\n## list\n");
  expect(/^```text\n(.*?)^```$/ms.exec(section)?.[1]).toBe(stdout);
});

it("list compares ids only within one service, unless an endpoint looks the same at a service that has moved", async () => {
  const service = new AnotherService();
  const baseUrl = await service.listen();
  try {
    // Both services number their endpoints.
    for (const path of ["1", "2"])
      await fetch(`${baseUrl}webhooks`, {
        method: "POST",
        headers: { Authorization: `Bearer ${anotherKey}` },
        body: JSON.stringify({ url: `https://a.example.com/${path}`, type: "production" }),
      });
    const [first, second] = [...service.hooks.values()];
    if (!first || !second) throw new Error("unreachable");
    const elsewhere = { baseUrl: "https://other.example.com/v1" };
    const resources = [
      recorded("another", { ...first, url: "https://b.example.com/", ...elsewhere }),
      recorded("moved", { ...second, ...elsewhere }),
    ];
    const settings = { baseUrl, apiKey: anotherKey, apiKeyHeader: "Authorization", apiKeyScheme: "Bearer" };
    const config = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`webhooks:${key}`, value]),
    );
    const { stdout } = await run({ config, stacks: { dev: { resources } } });
    expect(ownersIn(stdout)).toEqual(["may-hold", "moved"]);
    // Another fingerprint may mean a rotated key, so what looks the same stays managed. What looks different is another account's.
    const here = { baseUrl: baseUrl.replace(/\/$/, "") };
    const others = [
      recorded("rotated", { ...first, ...here }),
      recorded("account", { ...second, url: "https://b.example.com/", ...here }),
    ];
    const after = await run({ config, stacks: { dev: { resources: others } } });
    expect(ownersIn(after.stdout)).toEqual(["rotated", "may-hold"]);
    const people = await run({ config, stacks: { dev: { resources } } }, { json: false });
    expect(people.stdout).toMatch(/ perhaps another in test\/dev$/m);
    const orphans = await run({ config, stacks: { dev: { resources } } }, { orphans: true });
    expect(JSON.parse(orphans.stdout)).toEqual([]);
  } finally {
    await service.close();
  }
});

it("list names the resource that was recorded with this base URL and key before one that only looks alike", async () => {
  const endpoint = emulator.add({ url: "https://a.example.com/", type: "production" });
  const { baseUrl, account } = originOf({ baseUrl: emulator.url, apiKey: emulator.apiKey, providerName: "" });
  const own = recorded("own", endpoint);
  const stacks = {
    dev: { resources: [recorded("alike", { ...endpoint, baseUrl: "https://other.example.com" })] },
    prod: { resources: [{ ...own, outputs: { ...own.outputs, baseUrl, account } }] },
  };
  expect(ownersIn((await run({ stacks })).stdout)).toEqual(["own"]);
});

it("list goes on without a stack that cannot be read, and says so; --orphans fails", async () => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const stacks = { dev: {}, prod: "access denied" };
  const shown = await run({ stacks });
  expect(ownersIn(shown.stdout)).toEqual(["unknown"]);
  expect((await run({ stacks }, { json: false })).stdout).toMatch(/ unknown$/m);
  expect(shown.stderr).toMatch(/warning: cannot read the stack prod: .*access denied\n.*may be incomplete/);
  const orphans = await run({ stacks }, { orphans: true });
  expect(orphans).toMatchObject({ stdout: "", failure: { code: "OWNERSHIP_UNKNOWN" } });
});

it("list reads the state of a stack that no run has written", async () => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  expect(ownersIn((await run({ stacks: { dev: EMPTY } }, { orphans: true })).stdout)).toEqual([null]);
});

it("list says that the list is partial", async () => {
  await emulator.close();
  emulator = await startEmulator({ pageSize: 1 });
  for (const path of ["a", "b"]) emulator.add({ url: `https://a.example.com/${path}`, type: "production" });
  const { stdout, stderr } = await run({ stacks: { dev: {} } });
  expect(ownersIn(stdout)).toHaveLength(1);
  expect(stderr).toMatch(/^warning: .*only a part of its endpoints/m);
});

it("without a project, list says that no stack was looked into, and --orphans fails", async () => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const environment = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey };
  const failure = "error: no Pulumi.yaml project file found";
  const { stdout, stderr } = await run({ failure }, { environment });
  expect(ownersIn(stdout)).toEqual(["unknown"]);
  expect(stderr).toBe("No stack was looked into, because this folder has no Pulumi project.\n");
  expect((await run({ failure }, { environment, orphans: true })).failure).toMatchObject({
    code: "OWNERSHIP_UNKNOWN",
  });
});

it("list shows only the host of a url that its stack keeps as a secret, with --json too", async () => {
  const endpoint = emulator.add({ url: "https://a.example.com/t0ken", type: "production" });
  const encrypted = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    ciphertext: "v1:x",
  };
  const resource = {
    ...recorded("a", endpoint),
    inputs: { url: encrypted, type: "production" },
    outputs: {},
  };
  emulator.add({ url: "https://a.example.com:443/t0ken", type: "development" });
  emulator.add({ url: urlsOf(endpoint.url, newCheck(0)).own, type: "development" });
  for (const json of [true, false]) {
    const { stdout, stderr } = await run({ stacks: { dev: { resources: [resource] } } }, { json });
    expect(stdout).toContain("https://a.example.com/…");
    expect(stdout + stderr).not.toContain("t0ken");
  }
});

it.each<Partial<Parameters<typeof run>[0]> & { projectOnly?: boolean }>([
  { others: { "organization/other/dev": "passphrase must be set" } },
  { projectOnly: true },
  { stacks: {} },
])(
  "list shows only the host of a url that a stack may keep as a secret which was not read: %j",
  async (options) => {
    emulator.add({ url: "https://a.example.com/t0ken", type: "production" });
    const { projectOnly = false, ...project } = options;
    const { stdout, stderr } = await run({ stacks: { dev: {} }, ...project }, { projectOnly });
    expect(stdout).toContain("https://a.example.com/…");
    expect(stdout + stderr).not.toContain("t0ken");
  },
);

it("list shows only the host of a url with a user name or a password", async () => {
  emulator.add({ url: "https://user:pa55@a.example.com/x", type: "production" });
  emulator.add({ url: "https://t0ken@a.example.com/y", type: "production" });
  for (const json of [true, false]) {
    const { stdout, stderr } = await run({ stacks: { dev: {} } }, { json });
    expect(stdout.match(/https:\/\/a\.example\.com\/…/g)).toHaveLength(2);
    expect(stdout + stderr).not.toMatch(/pa55|t0ken/);
  }
});

it("list escapes the control characters of a hostile url", async () => {
  const hostile = "https://a.example.com/\u001b[2J\u202e\u009b";
  emulator.add({ url: "https://a.example.com/", type: "production" });
  emulator.edit(emulator.endpoints()[0]?.id ?? "", { url: hostile });
  const forPeople = await run({ stacks: { dev: {} } }, { json: false });
  expect(forPeople.stdout).toMatch(/^[\n\x20-\x7e]*$/);
  const { stdout } = await run({ stacks: { dev: {} } });
  expect(stdout).toMatch(/^[\n\x20-\x7e]*$/);
  expect(JSON.parse(stdout)[0].url).toBe(hostile);
});
