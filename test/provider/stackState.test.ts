import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { readStackState } from "../../src/provider/stack";
import { type Deployment, type Resource, StackState } from "../../src/provider/stackState";
import { NATIVE_TYPE_TOKEN, TYPE_TOKEN } from "../../src/shared/permanent";
import { ROOT_URN } from "./engineModel";

const origin = { baseUrl: "https://api.example.com", account: "abc123" };
const wanted = { url: "https://hooks.example.com/a", type: "production" } as const;
const providerOf = (name: string) => `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::${name}::1`;
const urnOf = (name: string, type: string = TYPE_TOKEN) => `urn:pulumi:dev::test::${type}::${name}`;
const resource = (name: string, more: Partial<Resource> = {}): Resource => ({
  ...{ urn: urnOf(name), type: TYPE_TOKEN, id: `wh_${name}`, provider: providerOf("default") },
  ...{ inputs: { ...wanted, __after: 1_000 }, outputs: { ...wanted, ...origin } },
  ...more,
});
const creating = (name: string, more: Partial<Resource> = {}) => {
  const { id: _id, outputs: _outputs, ...rest } = resource(name, more);
  return { type: "creating", resource: rest };
};
const evidenceIn = (deployment: Deployment, more: object = {}) =>
  new StackState(deployment).evidence({ wanted, names: ["lost"], origin, ...more });
const named = (name: string) => providerOf(name);

describe("the interrupted creations of a stack's state", () => {
  const inState = (...resources: Resource[]) => ({ resources, pending_operations: [creating("lost")] });
  test.each<[string, Deployment, unknown]>([
    ["one", inState(), [{ id: urnOf("lost"), ip: null, sentAt: 1_000, before: [] }]],
    [
      "one with an ip",
      { pending_operations: [creating("lost", { inputs: { ...wanted, ip: "192.0.2.1" } })] },
      [{ id: urnOf("lost"), ip: "192.0.2.1", sentAt: undefined, before: [] }],
    ],
    [
      "two of one URN, each with its own window",
      {
        pending_operations: [2_000, 1_000].map((at) =>
          creating("lost", { inputs: { ...wanted, __after: at } }),
        ),
      },
      [2_000, 1_000].map((sentAt) => expect.objectContaining({ id: urnOf("lost"), sentAt })),
    ],
    [
      "one whose resource was recorded since",
      inState(resource("lost", { inputs: { ...wanted, __after: 2_000 } })),
      [],
    ],
    ["one whose resource was recorded as it was sent", inState(resource("lost")), []],
    [
      "one that was to replace an older resource",
      inState(resource("lost", { inputs: { ...wanted, __after: 500 } })),
      [expect.anything()],
    ],
    [
      "one whose resource the first release recorded",
      inState(resource("lost", { inputs: wanted })),
      [expect.anything()],
    ],
    [
      "one that adopts",
      { pending_operations: [creating("lost", { inputs: { ...wanted, adoptId: "wh_1" } })] },
      [],
    ],
    ["an update", { pending_operations: [{ ...creating("lost"), type: "updating" }] }, []],
    [
      "one of another type of resource",
      { pending_operations: [creating("lost", { type: "aws:s3:Bucket" })] },
      [],
    ],
    [
      "one of another provider",
      { pending_operations: [creating("lost", { provider: named("staging") })] },
      [],
    ],
    [
      "one of the default provider with a version",
      { pending_operations: [creating("lost", { provider: named("default_3_255_0") })] },
      [expect.anything()],
    ],
    [
      "one of another url",
      { pending_operations: [creating("lost", { inputs: { ...wanted, url: "https://b.example.com" } })] },
      [],
    ],
    [
      "one whose url the state encrypts, by the name",
      { pending_operations: [creating("lost", { inputs: { ...wanted, url: { ciphertext: "x" } } })] },
      [expect.anything()],
    ],
    [
      "another one whose url the state encrypts",
      { pending_operations: [creating("another", { inputs: { ...wanted, url: { ciphertext: "x" } } })] },
      [],
    ],
    [
      "one of the native plugin that was recorded as it was to be made",
      {
        resources: [resource("lost", { inputs: wanted })],
        pending_operations: [creating("lost", { inputs: wanted })],
      },
      [],
    ],
    [
      "one of the native plugin",
      { pending_operations: [creating("lost", { type: NATIVE_TYPE_TOKEN, inputs: wanted })] },
      [expect.objectContaining({ sentAt: undefined })],
    ],
  ])("%s: they are evidence as far as they may have registered what is wanted", (_, deployment, expected) => {
    expect(evidenceIn(deployment)).toEqual(expected);
  });

  test("an explicit provider has its own", () => {
    const pending_operations = [creating("lost", { provider: named("staging") })];
    expect(evidenceIn({ pending_operations }, { origin: { ...origin, provider: "staging" } })).toHaveLength(
      1,
    );
  });
});

test("a pending resource of the state is evidence, at this base URL, whatever its key", () => {
  const pending = { before: ["wh_1"], attemptedAt: 5, complete: true };
  const of = (outputs: object) =>
    evidenceIn({
      resources: [resource("a", { id: "pending:1", outputs: { ...wanted, ...origin, pending, ...outputs } })],
    });
  expect(of({ account: "rotated" })).toEqual([{ id: "pending:1", ip: null, sentAt: 5, before: ["wh_1"] }]);
  expect(of({ pending: { ...pending, attemptedAt: null } })).toMatchObject([{ sentAt: undefined }]);
  expect(of({ baseUrl: "https://other.example.com" })).toEqual([]);
});

test("a resource of the stack has its endpoint, whatever its provider, and what is only read has none", () => {
  const state = new StackState({
    resources: [
      resource("a", { provider: named("staging") }),
      resource("native", { type: NATIVE_TYPE_TOKEN }),
      resource("old", { delete: true }),
      resource("read", { external: true }),
      resource("elsewhere", {
        outputs: { ...wanted, baseUrl: "https://other.example.com", account: "def456" },
      }),
      resource("secret", { inputs: {}, outputs: { ...origin, account: "def456", url: { ciphertext: "x" } } }),
    ],
  });
  const has = (id: string, more: object = wanted) => state.has({ id, ...more }, origin);
  expect(["wh_a", "wh_native", "wh_old", "wh_secret"].map((id) => has(id))).toEqual([true, true, true, true]);
  expect([has("wh_read"), has("wh_unknown")]).toEqual([false, false]);
  // Ids may count for each account: there, url and type tell.
  expect(has("wh_elsewhere")).toBe(true);
  expect(has("wh_elsewhere", { ...wanted, type: "development" })).toBe(false);
  expect(has("wh_elsewhere", {})).toBe(true);
});

test("a resource of a name has an endpoint unless it is pending, deleted or another provider's", () => {
  const state = new StackState({
    resources: [
      ...[resource("a"), resource("pending", { id: "pending:1" }), resource("gone", { delete: true })],
      resource("staged", { provider: named("staging") }),
    ],
  });
  expect(["a", "pending", "gone", "staged"].map((name) => state.hasEndpointNamed(name, origin))).toEqual([
    ...[true, false, false, false],
  ]);
});

describe("readStackState", () => {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-state-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Reads through a command `pulumi` that writes down how it was called. */
  function read(script: string, organization?: string): Promise<StackState> {
    const file = join(folder, "pulumi");
    writeFileSync(file, `#!/bin/sh\necho "$@ [$PULUMI_OPTION_CWD]" > ${folder}/args\n${script}\n`);
    chmodSync(file, 0o700);
    const PATH = [folder, process.env.PATH].join(delimiter);
    return readStackState(ROOT_URN, organization, { PATH, PULUMI_OPTION_CWD: "elsewhere" });
  }
  const print = (deployment: object) => `cat <<'END'\n${JSON.stringify({ version: 3, deployment })}\nEND`;

  test("the state is what `pulumi stack export` prints, of a stack that is named in full if the organization is known", async () => {
    const printed = print({ resources: [{ urn: ROOT_URN, type: "pulumi:pulumi:Stack" }, resource("a")] });
    expect((await read(printed)).endpoints).toMatchObject([{ id: "wh_a" }]);
    const { readFileSync } = jest.requireActual("node:fs");
    expect(readFileSync(`${folder}/args`, "utf8")).toMatch(/^stack export --stack dev .*\[\]$/m);
    await read(printed, "acme");
    expect(readFileSync(`${folder}/args`, "utf8")).toMatch(/^stack export --stack acme\/test\/dev /);
    expect((await read(print({}))).endpoints).toEqual([]); // a new stack
  });

  test.each([
    ["a command that fails", "exit 3", /ended with exit status 3/],
    ["output that is not JSON", "echo hello", /exit status 0/],
    ["another stack", print({ resources: [resource("a")] }), /printed another stack/],
  ])("%s is an error", async (_, script, message) => {
    await expect(read(script)).rejects.toThrow(message);
  });

  test("without pulumi on PATH the state cannot be read", async () => {
    await expect(readStackState(ROOT_URN, undefined, { PATH: "/nowhere" })).rejects.toThrow(/ENOENT/);
  });
});
