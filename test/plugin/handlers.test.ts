import * as proto from "@pulumi/pulumi/proto/provider_pb";
import fc from "fast-check";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Verbs } from "../../src/plugin/resources";
import { fromEngine, toEngine } from "../../src/plugin/values";
import { NativePlugin, requestOf, secret, struct, UNKNOWN, URN } from "./nativePlugin";

type Results = Partial<Record<keyof Verbs, unknown>>;

/** What the verbs of the plugin under test return, and what they and `configure` were called with. */
let results: Results;
let calls: unknown[][];
let settings: ((key: string) => string | undefined)[] = [];
let plugin: NativePlugin;

const verb = (name: keyof Verbs) => {
  const act = async (...args: unknown[]) => {
    calls.push([name, ...args]);
    const result = results[name];
    if (result instanceof Error) throw result;
    return result as never;
  };
  return [name, act];
};
const names: (keyof Verbs)[] = ["check", "diff", "create", "read", "update", "delete"];
const verbs: Verbs = Object.fromEntries(names.map(verb));

const start = () =>
  NativePlugin.start({
    environment: { PULUMI_CONFIG: '{"baseUrl":"https://stack.example.com","apiKey":"of the stack"}' },
    resources: {
      configure: async (get) => void settings.push(get),
      of: () => ({
        verbs,
        outputNames: ["url", "createdAt"],
        secretNames: ["key"],
      }),
    },
  });
beforeAll(async () => {
  plugin = await start();
  await plugin.configure({});
});
beforeEach(() => {
  [results, calls, settings] = [{}, [], []];
});
afterAll(() => plugin.stop());

const plain = { url: "https://a.example.com", ip: null, n: 1, list: [1, { a: "b" }] };
const failures = [{ property: "", reason: "url is missing" }];

/** Requests by the names of their setters, in which objects are the properties of a resource. */
const requests = {
  check: () => new proto.CheckRequest(),
  create: () => new proto.CreateRequest(),
  read: () => new proto.ReadRequest(),
  update: () => new proto.UpdateRequest(),
  delete: () => new proto.DeleteRequest(),
  diff: () => new proto.DiffRequest(),
};
function send(method: keyof Verbs, fields: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "object" && value !== null ? struct(value) : value,
  ]);
  return plugin.call(method, requestOf(requests[method](), Object.fromEntries(entries)));
}

interface Call {
  readonly what: string;
  readonly method: keyof Verbs;
  readonly request: Readonly<Record<string, unknown>>;
  /** What the verb is called with. */
  readonly args: unknown[];
  readonly result: unknown;
  readonly response: object;
}

const secretU = { url: secret("u") };
test.each<Call>([
  {
    what: "check passes the URN and what is secret, keeps it so, and reports failures",
    method: "check",
    request: { Olds: plain, News: { ...secretU, key: "k" } },
    args: [plain, { url: "u", key: "k" }, { urn: URN, secretNames: new Set(["key", "url"]) }],
    result: { inputs: { url: "u", key: "k" }, failures },
    response: { Inputs: { ...secretU, key: secret("k") }, FailuresList: failures },
  },
  {
    what: "create returns the id and the state, in which what was secret stays secret",
    method: "create",
    request: { Properties: secretU },
    args: [{ url: "u" }],
    result: { id: "wh_1", outs: { url: "u", at: null, no: undefined } },
    response: { Id: "wh_1", Properties: { ...secretU, at: null } },
  },
  {
    what: "read of a resource in the state keeps its inputs",
    method: "read",
    request: { Id: "wh_2", Properties: { url: "u" }, Inputs: { ...secretU, adoptId: "wh_2" } },
    args: ["wh_2", { url: "u" }],
    result: { id: "wh_2", props: { url: "u", createdAt: "now", external: true } },
    response: {
      ...{ Id: "wh_2", Properties: { ...secretU, createdAt: "now" } },
      Inputs: { ...secretU, adoptId: "wh_2" },
    },
  },
  {
    what: "read for an import returns inputs, which become the program's text",
    method: "read",
    request: { Id: "wh_2" },
    args: ["wh_2", {}],
    result: { id: "wh_2", props: { ...plain, external: true }, inputs: { url: "u" } },
    response: { Id: "wh_2", Properties: plain, Inputs: { url: "u" } },
  },
  {
    what: "read for a program's get keeps the url secret, whatever the program passes",
    method: "read",
    request: { Id: "wh_2", Properties: { type: "production" } },
    args: ["wh_2", { type: "production" }],
    result: { id: "wh_2", props: { url: "u", type: "production", external: true } },
    response: { Id: "wh_2", Properties: { ...secretU, type: "production" } },
  },
  {
    what: "read of what is gone returns nothing",
    method: "read",
    request: { Id: "wh_2", Properties: plain, Inputs: plain },
    args: ["wh_2", plain],
    result: {},
    response: { Id: "", Properties: undefined, Inputs: undefined },
  },
  {
    what: "update drops the code of the dynamic provider, which a stack that moved here still has",
    method: "update",
    request: { Id: "wh_1", Olds: { url: "u", __provider: "code" }, News: secretU },
    args: ["wh_1", { url: "u", __provider: "code" }, { url: "u" }],
    result: { outs: { url: "u", __provider: "code" } },
    response: { Properties: secretU },
  },
  {
    what: "delete passes the state",
    method: "delete",
    request: { Id: "wh_1", Properties: secretU },
    args: ["wh_1", { url: "u" }],
    result: undefined,
    response: {},
  },
])("$what", async ({ method, request, args, result, response }) => {
  results[method] = result;
  expect(await send(method, request)).toMatchObject(response);
  expect(calls).toEqual([[method, ...args]]);
});

test.each([
  ["create", { Properties: { url: "u", ip: "i" } }],
  ["update", { News: { url: "u", ip: "i" } }],
] as const)("%s in a preview calls no verb, and returns what a program may know", async (method, request) => {
  const response = await send(method, { ...request, Preview: true });
  expect(response).toMatchObject({ Properties: { url: "u", createdAt: UNKNOWN } });
  expect(calls).toEqual([]);
});

const { ADD_REPLACE, DELETE_REPLACE, UPDATE_REPLACE } = proto.PropertyDiff.Kind;
test.each<[what: string, replaces: string[] | undefined, olds: object, news: object, detailed: unknown[]]>([
  ["a value that was changed", ["url"], { url: secret("u") }, { url: "v" }, [["url", UPDATE_REPLACE]]],
  ["a value that was added", ["url"], { url: null }, { url: "v" }, [["url", ADD_REPLACE]]],
  ["a value that was removed", ["url"], { url: "u" }, {}, [["url", DELETE_REPLACE]]],
  ["no value that the program does not declare", ["account"], { account: "a" }, { url: "u" }, []],
  ["an update without a replacement", undefined, { url: "u" }, { url: "u" }, []],
])("diff shows %s", async (_what, replaces, olds, news, detailed) => {
  results.diff = { changes: true, ...(replaces && { replaces }) };
  expect(await send("diff", { Id: "wh_1", Olds: olds, News: news })).toMatchObject({
    ...{ Changes: 2, ReplacesList: replaces ?? [] },
    ...{ Hasdetaileddiff: replaces !== undefined, detailed },
  });
});

test("diff says that nothing changed", async () => {
  results.diff = { changes: false };
  const response = await send("diff", { Id: "wh_1", Olds: {}, News: {} });
  expect(response).toMatchObject({ Changes: 1, ReplacesList: [] });
});

test("settings come from the provider's inputs, then from the stack's configuration", async () => {
  const others = [await start(), await start()];
  await others[0]?.configure(
    { apiKey: secret("of the provider"), timeoutSeconds: 7, apiKeyHeader: "" },
    "staging",
  );
  await others[1]?.configure({}, "default_0_1_0");
  await Promise.all(others.map((other) => other.stop()));
  const names = ["apiKey", "baseUrl", "timeoutSeconds", "apiKeyHeader", "providerName"];
  const [ofStaging, ofDefault] = settings.map((get) => names.map((name) => get(`webhooks:${name}`)));
  expect(ofStaging).toEqual(["of the provider", "https://stack.example.com", "7", undefined, "staging"]);
  expect(ofDefault).toEqual(["of the stack", "https://stack.example.com", undefined, undefined, ""]);
});

test("a process has its settings once: another base URL would get the environment's key", async () => {
  const other = await start();
  await other.configure({});
  await expect(other.configure({ baseUrl: "https://evil.example" })).rejects.toMatchObject({
    details: expect.stringMatching(/has its settings already/),
  });
  expect(settings.map((get) => get("webhooks:baseUrl"))).toEqual(["https://stack.example.com"]);
  await other.stop();
});

test.each([
  ["getWebhookEndpoint", {}, /not a valid id/],
  ["getWebhookEndpoint", { id: ["wh_1"] }, /not a valid id/],
  ["getWebhookEndpoints", { type: "prod" }, /type must be "production" or "development"/],
  ["getWebhookEndpoints", { url: 5 }, /url must be a string/],
  ["getNothing", {}, /no function/],
])("%s refuses %j without asking the service", async (name, args, details) => {
  const request = new proto.InvokeRequest().setTok(`webhooks:index:${name}`).setArgs(struct(args));
  await expect(plugin.call("invoke", request)).rejects.toMatchObject({
    details: expect.stringMatching(details),
  });
});

test("cancel is answered, and so is what the engine asks before anything else", async () => {
  await plugin.call("cancel", new Empty());
  expect(await plugin.call("getPluginInfo", new Empty())).toMatchObject({
    Version: expect.stringMatching(/^\d/),
  });
});

test("whatever a program's values are, the verbs get them without envelopes", () => {
  const key = fc.string().filter((name) => name !== "__proto__");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.integer()),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3 }),
      fc.record({ hidden: tie("value") }),
    ),
  }));
  /** What the engine sends: what is `hidden` is in an envelope. */
  const sent = (tree: unknown): unknown => map(tree, sent, (inner) => secret(sent(inner)));
  /** The same as the verb must get it. */
  const got = (tree: unknown): unknown => map(tree, got, got);
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (tree) => {
      const properties = sent({ ...tree, plain: 1 }) as Record<string, unknown>;
      const isSecret = (name: string) => JSON.stringify(properties[name]).includes("1b47061264138c4a");
      const { values, secretNames } = fromEngine(struct(properties));
      expect(values).toEqual(got({ ...tree, plain: 1 }));
      expect(secretNames).toEqual(new Set(Object.keys(properties).filter(isSecret)));
      const back = toEngine(values, secretNames).toJavaScript();
      for (const [name, one] of Object.entries(values))
        expect(back[name]).toEqual(isSecret(name) && one !== null ? secret(one) : one);
    }),
  );
});

function map(tree: unknown, each: (one: unknown) => unknown, hidden: (one: unknown) => unknown): unknown {
  if (Array.isArray(tree)) return tree.map(each);
  if (typeof tree !== "object" || tree === null) return tree;
  const entries = Object.entries(tree);
  if (entries.length === 1 && entries[0]?.[0] === "hidden") return hidden(entries[0][1]);
  return Object.fromEntries(entries.map(([name, one]) => [name, each(one)]));
}
