import * as ts from "typescript";
import { adopt } from "../../src/cli/adopt/command";
import { importFile, namer, programText } from "../../src/cli/adopt/text";
import { type Emulator, startEmulator } from "../../src/emulator";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { read } from "../package/pages";
import { FakeProject, type FakeProjectOptions, KeptOutput, recorded } from "./fakeProject";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(() => emulator.close());

async function run(stacks: FakeProjectOptions["stacks"], { ids = [] as string[], native = false } = {}) {
  const output = new KeptOutput(false);
  const config = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey };
  const pulumi = new FakeProject({ config, stacks: stacks ?? {} });
  const failure = await adopt({ pulumi, output, ids, native, alsoStacks: [], environment: {} }).catch(
    (error: unknown) => error,
  );
  return { ...output.kept, failure };
}

/** Runs program text, and returns what it declares. */
function declaredBy(text: string): [name: string, args: unknown][] {
  const declared: [string, unknown][] = [];
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES5 },
  });
  expect(diagnostics).toEqual([]);
  class WebhookEndpoint {
    constructor(name: string, args: unknown) {
      declared.push([name, args]);
    }
  }
  new Function("require", "exports", outputText)(() => ({ WebhookEndpoint }), {});
  return declared;
}

it("programText quotes every string so that the program declares exactly the endpoint", () => {
  const url = "https://a/'\"`$" + "{1}\\\n\r\u2028\u2029\u0000\u001b[2J</script>*/\ud83d\ude00\u{e0001}";
  const text = programText([
    { name: "a", endpoint: { id: 'wh"1', url, type: "development", createdAt: null, updatedAt: null } },
  ]);
  expect(declaredBy(text)).toEqual([["a", { url, type: "development", adoptId: 'wh"1' }]]);
  expect(text).not.toMatch(/[^\n\x20-\x7e\ud800-\udfff]/);
});

it("adopt refuses a url that contains the API key, whose code would show the key, but not with --native", async () => {
  const { id } = emulator.add({ url: `https://a.example.com/${emulator.apiKey}`, type: "production" });
  const refused = await run({ dev: { resources: [] } }, { ids: [id] });
  expect(refused.failure).toMatchObject({ code: "NOT_ADOPTABLE" });
  expect(String(refused.failure)).toMatch(/its url contains a secret \(the API key/);
  expect(JSON.stringify(refused)).not.toContain(emulator.apiKey);
  const { stdout, failure } = await run({ dev: { resources: [] } }, { ids: [id], native: true });
  expect(failure).toBeUndefined();
  expect(stdout).toContain(id);
  expect(stdout).not.toContain(emulator.apiKey);
});

it("adopt warns of a url that a stack keeps as a secret, because the code has it in plain text", async () => {
  const managed = emulator.add({ url: "https://a.example.com/t0ken", type: "production" });
  const orphan = emulator.add({ url: "https://a.example.com/t0ken", type: "development" });
  const url = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };
  const resource = { ...recorded("a", managed), inputs: { url, type: "production" }, outputs: {} };
  const { stdout, stderr } = await run({ dev: { resources: [resource] } }, { ids: [orphan.id] });
  expect(stdout).toContain("t0ken");
  expect(stderr).toMatch(
    new RegExp(`the url of ${orphan.id} may be a secret, .*secret of the stack's configuration`),
  );
});

it("programText compiles at the end of a program that has the import already, also a second time", () => {
  const endpoint = { url: "https://a/", type: "production", createdAt: null, updatedAt: null } as const;
  const texts = ["wh_1", "wh_2"].map((id) => programText([{ name: id, endpoint: { ...endpoint, id } }]));
  const program = `import { WebhookEndpoint } from "pulumi-webhook-endpoints";\nnew WebhookEndpoint("a", { url: "https://a/", type: "production" });\n${texts.join("")}`;
  const sources = new Map([
    ["index.ts", program],
    [
      "types.d.ts",
      'declare module "pulumi-webhook-endpoints" { export class WebhookEndpoint { constructor(name: string, args: { url: string; type: string; adoptId?: string }); } }',
    ],
  ]);
  const options: ts.CompilerOptions = { noLib: true, noEmit: true, module: ts.ModuleKind.CommonJS };
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    fileExists: (name) => sources.has(name),
    readFile: (name) => sources.get(name),
    getSourceFile: (name, version) => {
      const source = sources.get(name);
      return source === undefined ? undefined : ts.createSourceFile(name, source, version);
    },
  };
  const compiled = ts.createProgram([...sources.keys()], options, host);
  const index = compiled.getSourceFile("index.ts");
  expect(compiled.getSemanticDiagnostics(index).map(({ messageText }) => messageText)).toEqual([]);
  expect(declaredBy(program)).toHaveLength(3);
});

it("the page of the command shows what adopt writes", () => {
  const [, section = ""] = read("docs/command.md").split("\n## adopt\n");
  const endpoint = { id: "wh_5f0c2d", url: "https://hooks.example.com/jobs", type: "production" } as const;
  const listed = { ...endpoint, createdAt: null, updatedAt: null };
  const nameFor = namer([], { endpoints: [listed], complete: true });
  const adoptions = [{ name: nameFor(listed), endpoint: listed }];
  expect(/^```ts\n(.*?)^```$/ms.exec(section)?.[1]).toBe(programText(adoptions));
});

it("importFile is JSON that names the native type and the id", () => {
  const endpoint = {
    id: "wh_1",
    url: "https://a/",
    type: "production",
    createdAt: null,
    updatedAt: null,
  } as const;
  expect(JSON.parse(importFile([{ name: "a", endpoint }]))).toEqual({
    resources: [{ type: "webhooks:index:WebhookEndpoint", name: "a", id: "wh_1" }],
  });
});

const listed = (urls: readonly string[]) =>
  urls.map(
    (url, at) => ({ id: `wh_${at}`, url, type: "production", createdAt: null, updatedAt: null }) as const,
  );

it("namer names 50,000 endpoints of one host at once", () => {
  const startedAt = performance.now();
  const endpoints = listed(Array.from({ length: 50_000 }, () => "https://hooks.example.com/"));
  const names = endpoints.map(namer([], { endpoints, complete: true }));
  expect(new Set(names).size).toBe(50_000);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});

it("namer gives each url a name of its own, from its host, and from the id if another endpoint has the host", () => {
  const endpoints = listed([
    "https://hooks.example.com/t0ken",
    "https://HOOKS.example.com:8443/",
    "https://hooks-example.com/",
    "http://127.0.0.1:8080/jobs",
    "http://[::1]/",
    "https://münchen.example/",
    `https://${"a".repeat(60)}.example.com/`,
    "not a url",
    "https://taken.example.com/",
  ]);
  const names = endpoints.map(namer(["taken-example-com"], { endpoints, complete: true }));
  expect(names).toEqual([
    "hooks-example-com-f50f372f",
    "hooks-example-com-a9f54979",
    "hooks-example-com-f2ced2fc",
    "endpoint-127-0-0-1",
    "endpoint-1",
    "xn-mnchen-3ya-example",
    "a".repeat(40),
    "endpoint",
    "taken-example-com-3895a920",
  ]);
});

it("namer names an endpoint by its id if a partial list may lack another of its host", () => {
  const endpoints = listed(["https://hooks.example.com/"]);
  expect(endpoints.map(namer([], { endpoints, complete: false }))).toEqual(["hooks-example-com-f50f372f"]);
});

it("adopt takes every unmanaged endpoint, under names that no resource has", async () => {
  const managed = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const byHand = emulator.add({ url: "https://a.example.com/2", type: "development" });
  const { stdout, stderr, failure } = await run({ dev: { resources: [recorded("a-example-com", managed)] } });
  expect(failure).toBeUndefined();
  expect(stderr).toMatch(/`pulumi up` \(1 to adopt\)\. It shows each as "create", as expected/);
  expect(declaredBy(stdout)).toEqual([
    [
      expect.stringMatching(/^a-example-com-\w{8}$/),
      { url: byHand.url, type: "development", adoptId: byHand.id },
    ],
  ]);
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
});

it("what adopt writes for two endpoints of one host, one after the other, has two names", async () => {
  const ids = ["1", "2"].map(
    (path) => emulator.add({ url: `https://a.example.com/${path}`, type: "production" }).id,
  );
  const texts: string[] = [];
  for (const id of ids) texts.push((await run({ dev: {} }, { ids: [id] })).stdout);
  expect(new Set(declaredBy(texts.join("")).map(([name]) => name)).size).toBe(2);
});

it("adopt declares an endpoint once whose id is named twice", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  expect(declaredBy((await run({ dev: {} }, { ids: [id, id] })).stdout)).toHaveLength(1);
});

it("adopt writes nothing when everything is managed", async () => {
  const managed = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const { stdout, stderr, failure } = await run({ dev: { resources: [recorded("a", managed)] } });
  expect({ stdout, failure }).toEqual({ stdout: "", failure: undefined });
  expect(stderr).toMatch(/nothing to adopt/);
});

it("adopt refuses a managed id by the name of its owner, and one that does not exist or cannot be read", async () => {
  const managed = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const stacks = { dev: { resources: [recorded("jobs", managed)] } };
  const refused = await run(stacks, { ids: [managed.id] });
  expect(refused).toMatchObject({ stdout: "", failure: { code: "NOT_ADOPTABLE" } });
  expect(String(refused.failure)).toContain(`urn:pulumi:dev::test::${TYPE_TOKEN}::jobs`);
  emulator.edit(managed.id, { url: "" });
  for (const [id, why] of [
    ["wh_none", "the service has no endpoint wh_none"],
    [managed.id, `the service has ${managed.id}, but it cannot be read: `],
  ] as const)
    expect(await run(stacks, { ids: [id] })).toMatchObject({
      stdout: "",
      failure: { code: "NOT_ADOPTABLE", reason: expect.stringContaining(why) },
    });
});

it("adopt leaves out an endpoint that an interrupted run may have registered", async () => {
  const made = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const { id: _, ...resource } = recorded("jobs", made);
  const { stdout, stderr } = await run({ dev: { pending_operations: [{ type: "creating", resource }] } });
  expect(stdout).toBe("");
  expect(stderr).toMatch(
    new RegExp(
      `${made.id} is left out: an interrupted run of test/dev may have registered it.*npx pulumi-webhook-endpoints recover`,
    ),
  );
});

it("adopt leaves out an endpoint that a stack only reads, unless its id is named", async () => {
  const read = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const stacks = { dev: { resources: [recorded("jobs", { ...read, more: { external: true } })] } };
  const { stdout, stderr } = await run(stacks);
  expect(stdout).toBe("");
  expect(stderr).not.toContain("is managed");
  expect(stderr).toMatch(new RegExp(`${read.id} is left out: jobs in test/dev only reads it`));
  expect(declaredBy((await run(stacks, { ids: [read.id] })).stdout)).toHaveLength(1);
});

it("adopt leaves out an endpoint with the url and type of a managed one, unless its id is named", async () => {
  const managed = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const twin = emulator.add({ url: "https://A.example.com/1", type: "production" });
  const other = emulator.add({ url: "https://a.example.com/1", type: "development" });
  const stacks = { dev: { resources: [recorded("jobs", managed)] } };
  const { stdout, stderr } = await run(stacks);
  expect(declaredBy(stdout)).toMatchObject([[expect.anything(), { adoptId: other.id }]]);
  expect(stderr).toMatch(new RegExp(`${twin.id} is left out: .*same url and type as jobs in test/dev`));
  expect(declaredBy((await run(stacks, { ids: [twin.id] })).stdout)).toHaveLength(1);
});

it("adopt writes the endpoints that can be declared, and fails with those that cannot", async () => {
  const good = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const odd = emulator.add({ url: "https://a.example.com/2", type: "production" });
  emulator.edit(odd.id, { url: "https://user:pass@a.example.com/#f" });
  const { stdout, failure } = await run({ dev: {} });
  expect(declaredBy(stdout)).toHaveLength(1);
  expect(stdout).toContain(good.id);
  expect(failure).toMatchObject({ code: "NOT_ADOPTABLE", message: expect.stringContaining(odd.id) });
  expect(await run({ dev: {} }, { ids: [odd.id] })).toMatchObject({
    stdout: "",
    failure: { code: "NOT_ADOPTABLE" },
  });
});

it("adopt refuses half of a surrogate pair, which no request can carry", async () => {
  const odd = emulator.add({ url: "https://a.example.com/2", type: "production" });
  emulator.edit(odd.id, { url: "https://a.example.com/\ud800" });
  for (const native of [true, false]) {
    const { stdout, failure } = await run({ dev: {} }, { ids: [odd.id], native });
    expect({ stdout, failure }).toMatchObject({ stdout: "", failure: { code: "NOT_ADOPTABLE" } });
    expect(String(failure)).toMatch(/surrogate/);
  }
});

it("adopt leaves out an endpoint whose id a state has with other looks", async () => {
  const one = emulator.add({ url: "https://a.example.com/1", type: "production" });
  const elsewhere = { ...one, url: "https://b.example.com/", baseUrl: "https://other.example.com" };
  const { stdout, stderr } = await run({ dev: { resources: [recorded("jobs", elsewhere)] } });
  expect(stdout).toBe("");
  expect(stderr).toMatch(new RegExp(`${one.id} is left out: jobs in test/dev may be its resource`));
});

it("adopt fails when a stack cannot be read, because that stack may manage the endpoint", async () => {
  emulator.add({ url: "https://a.example.com/1", type: "production" });
  expect(await run({ dev: {}, prod: "access denied" })).toMatchObject({
    stdout: "",
    failure: { code: "OWNERSHIP_UNKNOWN" },
  });
});
