import { deleteEndpoints, namedIn } from "../../src/cli/delete";
import { get } from "../../src/cli/get";
import { list } from "../../src/cli/list";
import { type Emulator, startEmulator } from "../../src/emulator";
import type { Resource } from "../../src/settlement/deployment";
import { inPages } from "../emulator/odd";
import { read } from "../package/pages";
import { cleanUp, run as runCommand, stackFolder } from "./commandLine";
import { FakeProject, type FakeProjectOptions, KeptOutput, recorded } from "./fakeProject";

let now = Date.parse("2030-06-15T12:00:00Z");
let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ now: () => now });
});
afterEach(() => emulator.close());

const settings = () => ({ "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey });
const added = (path: string) => emulator.add({ url: `https://a.example.com/${path}`, type: "production" });
const ids = () => emulator.endpoints().map(({ id }) => id);
const deletions = () => emulator.requests.filter(({ method }) => method === "DELETE");

interface Run {
  readonly ids?: readonly string[];
  /** What `list --json` printed. */
  readonly listed?: readonly object[];
  readonly yes?: boolean;
  readonly answer?: string;
  /** What happens while the question is open. */
  readonly meanwhile?: () => void;
  readonly json?: boolean;
}

async function run(
  project: Partial<FakeProjectOptions>,
  { ids = [], listed, answer, meanwhile, yes = answer === undefined, json = true }: Run,
) {
  const output = new KeptOutput(json);
  const pulumi = new FakeProject({ config: settings(), stacks: { dev: {} }, ...project });
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    meanwhile?.();
    return answer ?? "";
  };
  const named = listed === undefined ? ids.map((id) => ({ id })) : namedIn(JSON.stringify(listed));
  const common = { pulumi, output, named, yes, alsoStacks: [], environment: {} };
  const status = await deleteEndpoints({ ...common, ...(answer === undefined ? {} : { ask }) }).catch(
    (error: unknown) => error,
  );
  return { ...output.kept, status, questions };
}

it("delete deletes an endpoint that nobody has, whatever its type and age, after a question", async () => {
  const [first, other] = [added("a"), added("b")];
  const { questions, status, stdout, stderr } = await run({}, { ids: [first.id], answer: "y" });
  expect(questions).toEqual(["Delete this 1 endpoint? [y/N] "]);
  expect(stderr).toContain("https://a.example.com/a");
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ stacks: 1, deleted: [{ id: first.id }], kept: [] });
  expect(ids()).toEqual([other.id]);
});

it.each([
  ["no", { answer: "n" }],
  ["nobody to ask", { yes: false }],
])("delete deletes nothing after %s, and says so with its status", async (_what, answer) => {
  const { id } = added("a");
  const { status, stdout } = await run({}, { ids: [id], ...answer });
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ deleted: [], kept: [{ id, reason: "not-confirmed" }] });
  expect(deletions()).toEqual([]);
});

it("delete refuses what a stack of any project has, names the resource, and deletes the others", async () => {
  const [managed, reading, held, free] = [added("managed"), added("read"), added("held"), added("free")];
  const stacks = { dev: { resources: [recorded("jobs", managed)] } };
  const others = {
    "organization/other/dev": {
      resources: [
        recorded("reader", { ...reading, more: { external: true } }),
        recorded("old", { ...held, url: "https://b.example.com", baseUrl: "https://other.example.com" }),
      ],
    },
  };
  const one = await run({ stacks, others }, { ids: [managed.id] });
  expect(one.status).toMatchObject({ code: "NOT_DELETABLE" });
  expect(String(one.status)).toMatch(
    new RegExp(`${managed.id} was not deleted: jobs in test/dev manages it`),
  );
  expect(one.questions).toEqual([]);
  expect(deletions()).toEqual([]);

  const all = await run({ stacks, others }, { ids: [managed, reading, held, free].map(({ id }) => id) });
  expect(all.status).toMatchObject({
    code: "NOT_DELETABLE",
    message: expect.stringContaining("3 of 4 endpoints"),
  });
  expect(JSON.parse(all.stdout)).toMatchObject({
    deleted: [{ id: free.id }],
    kept: [
      { id: managed.id, reason: "managed" },
      { id: reading.id, reason: "read-by-stack" },
      { id: held.id, reason: "may-be-held" },
    ],
    error: { code: "NOT_DELETABLE" },
  });
  for (const { id } of [reading, held]) expect(all.stderr).toContain(`${id} was not deleted`);
  expect(ids()).toEqual([managed.id, reading.id, held.id]);
});

it.each<[string, Partial<FakeProjectOptions>]>([
  ["a stack cannot be read", { others: { "o/other/dev": "access denied" } }],
  ["the project has no stack in the backend", { stacks: {} }],
  ["the format of a state is newer than those that are known", { version: 5 }],
  ["the format of a state is not told", { version: undefined }],
])("delete deletes nothing when %s", async (_when, project) => {
  const { id } = added("a");
  expect((await run(project, { ids: [id] })).status).toMatchObject({ code: "OWNERSHIP_UNKNOWN" });
  expect(deletions()).toEqual([]);
});

it("delete deletes an endpoint that a partial list leaves out, because it asks for it", async () => {
  await emulator.close();
  emulator = await startEmulator({ answer: inPages(1) });
  const [, second] = [added("a"), added("b")];
  expect((await run({}, { ids: [second.id] })).status).toBe(0);
});

it("delete fails for an id that the service does not have, and deletes the others", async () => {
  const { id } = added("a");
  const { status, stdout } = await run({}, { ids: ["wh_typo", id] });
  expect(status).toMatchObject({ code: "NOT_DELETABLE", message: expect.stringContaining("wh_typo") });
  expect(JSON.parse(stdout)).toMatchObject({ deleted: [{ id }] });
});

it("delete says of an endpoint that cannot be read that the service has it", async () => {
  const { id } = added("a");
  emulator.edit(id, { url: "" });
  const { status } = await run({}, { ids: [id] });
  expect(status).toMatchObject({
    code: "NOT_DELETABLE",
    reason: expect.stringContaining("cannot be read: "),
  });
  expect(ids()).toEqual([id]);
});

it("delete takes what list --json prints, or an id on each line, and nothing else", () => {
  const idsIn = (input: string) => namedIn(input).map(({ id }) => id);
  expect(idsIn('[{"id":"wh_1","owner":null},{"id":"wh_2"}]\n')).toEqual(["wh_1", "wh_2"]);
  expect(idsIn("wh_1\r\n\n  wh_2 \n")).toEqual(["wh_1", "wh_2"]);
  expect(idsIn("[]")).toEqual([]);
  expect(idsIn("")).toEqual([]);
  for (const bad of ["wh_1\nwh_", '{"error":{"code":"UNREACHABLE","message":"x"}}', "[1]", "[", "[null]"])
    expect(() => idsIn(bad)).toThrow(expect.objectContaining({ code: "WRONG_USE" }));
});

it.each([
  ["url", { url: "https://a.example.com/other" }],
  ["type", { type: "development" as const }],
  ["createdAt", { createdAt: "2029-01-01T00:00:00Z" }],
])("delete keeps an endpoint whose %s is not that of the list on standard input", async (_what, change) => {
  const [one, other] = [added("a"), added("b")];
  const { status, stdout } = await run({}, { listed: [{ ...one, ...change }, other] });
  expect(status).toMatchObject({
    code: "NOT_DELETABLE",
    message: expect.stringContaining(`${one.id} was not`),
  });
  expect(JSON.parse(stdout)).toMatchObject({
    deleted: [{ id: other.id }],
    kept: [{ id: one.id, reason: "changed" }],
  });
});

it("delete takes a list that shows only the host of a url", async () => {
  const one = added("a");
  expect(await run({}, { listed: [{ ...one, url: "https://a.example.com/…" }] })).toMatchObject({
    status: 0,
  });
});

it.each([
  ["created later", { createdAt: "2030-06-15T12:00:01Z" }],
  ["of another type", { type: "development" as const }],
])(
  "delete keeps an endpoint that is another one, %s, by the time somebody has agreed",
  async (_what, change) => {
    await emulator.close();
    emulator = await startEmulator({ now: () => now, newId: () => "wh_1" });
    const one = added("a");
    const meanwhile = () => {
      emulator.remove(one.id);
      const { url, type, createdAt } = one;
      emulator.add({ url, type, createdAt, ...change });
    };
    const { status, stdout } = await run({}, { ids: [one.id], answer: "y", meanwhile });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ deleted: [], kept: [{ id: one.id, reason: "not-deleted" }] });
    expect(deletions()).toEqual([]);
  },
);

it("delete names the resource that has adopted an endpoint by the time somebody has agreed", async () => {
  const one = added("a");
  const resources: Resource[] = [];
  const meanwhile = () => void resources.push(recorded("jobs", one));
  const { status, stderr } = await run(
    { stacks: { dev: { resources } } },
    { ids: [one.id], answer: "y", meanwhile },
  );
  expect([status, deletions()]).toEqual([1, []]);
  expect(stderr).toMatch(new RegExp(`${one.id} is kept: jobs in .* manages it`));
});

it("delete deletes nothing if the owners cannot be read any more by the time somebody has agreed", async () => {
  const one = added("a");
  const others: Record<string, string> = {};
  const meanwhile = () => {
    others["o/other/dev"] = "access denied";
  };
  const { status } = await run({ others }, { ids: [one.id], answer: "y", meanwhile });
  expect(status).toMatchObject({ code: "OWNERSHIP_UNKNOWN" });
  expect(deletions()).toEqual([]);
});

it("delete takes a url as list --json prints it, with the API key masked", async () => {
  const { id } = added(`jobs?key=${emulator.apiKey}`);
  const output = new KeptOutput(true);
  const pulumi = new FakeProject({ config: settings(), stacks: { dev: {} } });
  await list({ pulumi, output, orphans: true, alsoStacks: [], environment: {} });
  const listed = JSON.parse(output.kept.stdout) as object[];
  expect(listed).toMatchObject([{ id, url: "https://a.example.com/jobs?key=…" }]);
  expect(await run({}, { listed })).toMatchObject({ status: 0 });
  expect(ids()).toEqual([]);
});

it("delete does not say that an endpoint is deleted that the service has although it answers 404", async () => {
  const one = added("a");
  emulator.fault({ operation: "delete", kind: "status", status: 404, times: 1 });
  const { status, stdout, stderr } = await run({}, { ids: [one.id] });
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ deleted: [], kept: [{ id: one.id, reason: "not-deleted" }] });
  expect(stderr).toMatch(new RegExp(`${one.id} is kept: .*404`));
});

it.each(["whsec_q83vEjRWeJASNFZ4kKvN7xI0Vnirze8S", " "])(
  "an id cannot be %j, and is not repeated",
  async (id) => {
    const { status } = await run({}, { ids: [id] });
    expect(status).toMatchObject({ code: "WRONG_USE" });
    expect(String(status)).not.toContain("q83v");
    expect(emulator.requests).toEqual([]);
  },
);

async function shown(
  id: string,
  { json = false, stacks = {} }: { json?: boolean } & Partial<FakeProjectOptions>,
) {
  const output = new KeptOutput(json);
  const pulumi = new FakeProject({ config: settings(), stacks: { dev: {}, ...stacks } });
  const failure = await get({ id, pulumi, output, alsoStacks: [], environment: {} }).catch(
    (error: unknown) => error,
  );
  return { ...output.kept, failure };
}

it("get shows an endpoint with its owner, as its page does", async () => {
  await emulator.close();
  emulator = await startEmulator({ now: () => now, newId: () => "wh_5f0c2d" });
  now -= 41 * 86_400_000;
  const endpoint = emulator.add({ url: "https://hooks.example.com/jobs", type: "production" });
  now += 41 * 86_400_000;
  const urn = "urn:pulumi:prod::shop::webhooks:index:WebhookEndpoint::jobs";
  const stacks = { prod: { resources: [{ ...recorded("jobs", endpoint), urn }] } };
  const { stdout } = await shown("wh_5f0c2d", { stacks });
  const [, section = ""] = read("docs/command.md").split("\n## get\n");
  expect(/^```text\n(.*?)^```$/ms.exec(section)?.[1]).toBe(stdout);
  const json = await shown("wh_5f0c2d", { stacks, json: true });
  expect(JSON.parse(json.stdout)).toEqual({ ...endpoint, owner: { kind: "manages", urn } });
});

it("get fails for an id that the service does not have, and does not repeat what may be a key", async () => {
  const { stdout, failure } = await shown("wh_none", {});
  expect({ stdout, failure }).toMatchObject({ stdout: "", failure: { code: "ENDPOINT_MISSING" } });
  expect(String(failure)).toContain("wh_none");
  expect(String((await shown("4f1c0a9b2d4e4f1c0a9b2d4e", {})).failure)).not.toContain("4f1c0a9b");
});

it("get finds an endpoint by an id that the list spells in another case, unless another endpoint has that spelling", async () => {
  const ids = ["ab1c", "AB1C"];
  await emulator.close();
  emulator = await startEmulator({ newId: () => ids.shift() ?? "" });
  const shownId = async () => JSON.parse((await shown("AB1C", { json: true })).stdout).id;
  added("lower");
  expect(await shownId()).toBe("ab1c");
  added("upper");
  expect(await shownId()).toBe("AB1C");
});

it("get shows only the host of a url that a stack keeps as a secret", async () => {
  const endpoint = added("t0ken");
  const resource = { ...recorded("a", endpoint), inputs: { url: { ciphertext: "v1:x" } }, outputs: {} };
  const { stdout } = await shown(endpoint.id, { stacks: { dev: { resources: [resource] } } });
  expect(stdout).toContain("https://a.example.com/…");
  expect(stdout).not.toContain("t0ken");
});

describe("an id that begins with a dash", () => {
  afterEach(cleanUp);

  test.each(["-NxAbc123", "-Vx9_ab"])("%s is an id, wherever it stands", async (id) => {
    await emulator.close();
    emulator = await startEmulator({ now: () => now, newId: () => id });
    added("a");
    const folder = stackFolder({ config: settings() });
    const shown = await runCommand(["get", id, "--json"], folder);
    expect(JSON.parse(shown.stdout)).toMatchObject({ id });
    for (const args of [
      ["get", "--json", id],
      ["get", "--json", "--", id],
    ])
      expect((await runCommand(args, folder)).stdout).toBe(shown.stdout);
    // They got as far as that there is no stack.
    for (const args of [
      ["adopt", id],
      ["delete", id, "--yes"],
    ])
      expect((await runCommand(args, folder)).stderr).toMatch(/ \(OWNERSHIP_UNKNOWN\)\n$/);
  });

  test.each([
    ["-sprod", ["get", "adopt", "delete"]],
    ["-ystack", ["delete"]],
  ])("%s may be an id or an option of %j, and is an id behind -- only", async (id, commands) => {
    await emulator.close();
    emulator = await startEmulator({ now: () => now, newId: () => id });
    added("a");
    const folder = stackFolder({ config: settings() });
    for (const command of commands)
      expect((await runCommand([command, id], folder)).stderr).toMatch(
        /may be that option or an id.*WRONG_USE/,
      );
    expect(JSON.parse((await runCommand(["get", "--json", "--", id], folder)).stdout)).toMatchObject({ id });
    const { stderr } = await runCommand(["delete", "--yes", "--", id], folder);
    expect(stderr).toMatch(/ \(OWNERSHIP_UNKNOWN\)\n$/);
  });

  test("what is not exactly an option is no option of the command", async () => {
    const { status, stderr } = await runCommand(["get", "--jsn", "-x"], stackFolder({ config: settings() }));
    expect([status, stderr]).toEqual([1, expect.stringMatching(/unknown option '--jsn'.*\(WRONG_USE\)\n$/)]);
  });
});
