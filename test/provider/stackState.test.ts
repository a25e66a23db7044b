import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { readStackState, type StackPlace } from "../../src/provider/stack";
import { type Deployment, type Resource, StackState } from "../../src/provider/stackState";
import { NATIVE_TYPE_TOKEN, TYPE_TOKEN } from "../../src/shared/permanent";
import { providerUrnOf, ROOT_URN, urnOf } from "./engineModel";

const origin = { baseUrl: "https://api.example.com", account: "abc123" };
const wanted = { url: "https://hooks.example.com/a", type: "production" } as const;
const resource = (name: string, more: Partial<Resource> = {}): Resource => ({
  ...{ urn: urnOf(name), type: TYPE_TOKEN, id: `wh_${name}`, provider: providerUrnOf("") },
  ...{ inputs: { ...wanted, __after: 1_000 }, outputs: { ...wanted, ...origin } },
  ...more,
});
const creating = (name: string, more: Partial<Resource> = {}) => {
  const { id: _id, outputs: _outputs, ...rest } = resource(name, more);
  return { type: "creating", resource: rest };
};
const evidenceIn = (deployment: Deployment, more: object = {}) =>
  new StackState(deployment).evidence({ wanted, names: ["lost"], origin, ...more });

const secretUrl = { inputs: { ...wanted, url: { ciphertext: "x" } } };
const serviceSentAt = (after: number) => ({ inputs: { ...wanted, __after: after } });
const ofFirstRelease = { inputs: wanted };
// What is in the state beside an interrupted creation of the resource "lost", and how that one differs from a usual one.
test.each<[string, Partial<Resource>, Resource[], number]>([
  ["one", {}, [], 1],
  ["one whose resource was recorded since", {}, [resource("lost", serviceSentAt(2_000))], 0],
  ["one whose resource was recorded as it was sent", {}, [resource("lost")], 0],
  ["one that was to replace an older resource", {}, [resource("lost", serviceSentAt(500))], 1],
  ["one whose resource the first release recorded", {}, [resource("lost", ofFirstRelease)], 1],
  ["one that adopts", { inputs: { ...wanted, adoptId: "wh_1" } }, [], 0],
  ["one of another type of resource", { type: "aws:s3:Bucket" }, [], 0],
  ["one of another provider", { provider: providerUrnOf("staging") }, [], 0],
  ["one of the default provider with a version", { provider: providerUrnOf("default_3_255_0") }, [], 1],
  ["one of another url", { inputs: { ...wanted, url: "https://b.example.com" } }, [], 0],
  ["one whose url the state encrypts, by the name", secretUrl, [], 1],
  ["another one whose url the state encrypts", { ...secretUrl, urn: urnOf("another") }, [], 0],
  ["one of the native plugin", { type: NATIVE_TYPE_TOKEN, ...ofFirstRelease }, [], 1],
  ["one of the native plugin that was recorded", ofFirstRelease, [resource("lost", ofFirstRelease)], 0],
])("%s is evidence as far as it may have registered what is wanted", (_, more, resources, count) => {
  const deployment = { resources, pending_operations: [creating("lost", more)] };
  expect(evidenceIn(deployment)).toHaveLength(count);
  const updating = [{ ...creating("lost", more), type: "updating" }];
  expect(evidenceIn({ resources, pending_operations: updating })).toEqual([]);
});

test("each interrupted creation is evidence with its own window and ip, that of an explicit provider for its own", () => {
  const inputs = { ...wanted, ip: "192.0.2.1" };
  const staging = { provider: providerUrnOf("staging") };
  const pending_operations = [
    ...[creating("lost", serviceSentAt(2_000)), creating("lost"), creating("lost", { inputs })],
    creating("lost", { ...staging, ...serviceSentAt(3_000) }),
  ];
  const lost = { id: urnOf("lost"), ip: null, before: [] };
  expect(evidenceIn({ pending_operations })).toEqual([
    { ...lost, serviceSentAt: 2_000 },
    { ...lost, serviceSentAt: 1_000 },
    { ...lost, ip: "192.0.2.1", serviceSentAt: undefined },
  ]);
  const its = { origin: { ...origin, provider: "staging" } };
  expect(evidenceIn({ pending_operations }, its)).toEqual([{ ...lost, serviceSentAt: 3_000 }]);
});

test("a pending resource of the state is evidence, at this base URL, whatever its key", () => {
  const pending = { before: ["wh_1"], attemptedAt: 5 };
  const outputs = { ...wanted, ...origin, pending };
  const of = (more: object) =>
    evidenceIn({ resources: [resource("a", { id: "pending:1", outputs: { ...outputs, ...more } })] });
  expect(of({ account: "rotated" })).toEqual([
    { id: "pending:1", ip: null, serviceSentAt: 5, before: ["wh_1"] },
  ]);
  expect(of({ pending: { ...pending, attemptedAt: null } })).toMatchObject([{ serviceSentAt: undefined }]);
  expect(of({ baseUrl: "https://other.example.com" })).toEqual([]);
});

test("a resource of the stack has its endpoint, whatever its provider, and what is only read has none; by name, it must be whole", () => {
  const other = { baseUrl: "https://other.example.com", account: "def456" };
  const state = new StackState({
    resources: [
      ...[resource("a"), resource("pending", { id: "pending:1" })],
      resource("staged", { provider: providerUrnOf("staging") }),
      resource("native", { type: NATIVE_TYPE_TOKEN }),
      resource("old", { delete: true }),
      resource("read", { external: true }),
      resource("elsewhere", { outputs: { ...wanted, ...other } }),
      resource("secret", { inputs: {}, outputs: { ...other, url: { ciphertext: "x" } } }),
    ],
  });
  const has = (id: string, more: object = wanted) => state.has({ id, ...more }, origin);
  const names = ["a", "staged", "native", "old", "secret", "elsewhere", "read", "unknown"];
  expect(names.filter((name) => has(`wh_${name}`))).toEqual(names.slice(0, 6));
  // Ids may count for each account: there, url and type tell.
  expect(has("wh_elsewhere", { ...wanted, type: "development" })).toBe(false);
  expect(has("wh_elsewhere", {})).toBe(true);
  const named = ["a", "staged", "old", "pending"].filter((name) => state.hasEndpointNamed(name, origin));
  expect(named).toEqual(["a"]);
});

const folder = mkdtempSync(join(tmpdir(), "webhooks-state-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reads through a command `pulumi` of Node, which Windows finds as npm writes one, and which writes down how it was called. */
function read(script: string, place: StackPlace = {}): Promise<StackState> {
  const text = `#!/usr/bin/env node
    const args = process.argv.slice(2);
    const call = \`\${args.join(" ")} [\${process.env.PULUMI_OPTION_CWD}] in \${process.cwd()}\\n\`;
    require("node:fs").writeFileSync(${JSON.stringify(join(folder, "args"))}, call);
    ${script}`;
  for (const name of ["pulumi", "pulumi.js"]) writeFileSync(join(folder, name), text, { mode: 0o700 });
  writeFileSync(join(folder, "pulumi.cmd"), '@node "%~dp0\\pulumi.js" %*');
  const PATH = [folder, process.env.PATH].join(delimiter);
  return readStackState(ROOT_URN, place, { PATH, PULUMI_OPTION_CWD: "elsewhere" });
}
const print = (deployment: object) => `console.log('${JSON.stringify({ version: 3, deployment })}');`;

const printed = print({ resources: [{ urn: ROOT_URN, type: "pulumi:pulumi:Stack" }, resource("a")] });
const howItWasCalled = () => readFileSync(join(folder, "args"), "utf8");

test("the state is what `pulumi stack export` prints in the project's folder, of a stack that is named in full if the organization is known", async () => {
  expect((await read(printed)).endpoints).toMatchObject([{ id: "wh_a" }]);
  expect(howItWasCalled()).toMatch(/^stack export --stack dev .*\[\] in /);
  await read(printed, { organization: "acme", rootDirectory: folder });
  expect(howItWasCalled()).toMatch(/^stack export --stack acme\/test\/dev /);
  expect(howItWasCalled()).toContain(`in ${realpathSync(folder)}\n`);
  expect((await read(print({}))).endpoints).toEqual([]); // a new stack
});

test("without a root directory, the project's folder is the nearest one above with a project file, and without that the current one", async () => {
  // What the language host of an inline program, or an old one, says.
  const place = { rootDirectory: "rootDirectory" };
  const src = join(folder, "project", "src");
  mkdirSync(src, { recursive: true });
  const cwd = jest.spyOn(process, "cwd").mockReturnValue(src);
  try {
    await read(printed, place);
    expect(howItWasCalled()).toContain(`in ${realpathSync(src)}\n`);
    writeFileSync(join(folder, "project", "Pulumi.yml"), "");
    await read(printed, place);
    expect(howItWasCalled()).toContain(`in ${realpathSync(join(folder, "project"))}\n`);
  } finally {
    cwd.mockRestore();
  }
});

test("a backend without projects, which takes no full name, is asked for the plain one; a named organization never is", async () => {
  const refusal = 'console.error("error: a stack name may only contain …"); process.exitCode = 1;';
  const plainOnly = `if (/\\//.test(args.join())) { ${refusal} } else { ${printed} }`;
  expect((await read(plainOnly, { organization: "organization" })).endpoints).toHaveLength(1);
  await expect(read(plainOnly, { organization: "acme" })).rejects.toThrow("a stack name may only contain …");
});

test.each([
  [
    "a command that fails",
    'console.error("warning: x\\nerror: no https://u:t0ken@host/"); process.exitCode = 3;',
    "`pulumi stack export --stack dev` failed: no https://…@host/",
  ],
  ["output that is not JSON", "console.log('hello');", /failed: hello/],
  ["another stack", print({ resources: [resource("a")] }), /printed another stack/],
])("%s is an error", async (_, script, message) => {
  await expect(read(script)).rejects.toThrow(message);
});

test("without pulumi on PATH the state cannot be read", () =>
  expect(readStackState(ROOT_URN, {}, { PATH: "/nowhere" })).rejects.toMatchObject({ code: "ENOENT" }));
