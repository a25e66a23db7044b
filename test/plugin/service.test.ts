import type { handleUnaryCall } from "@grpc/grpc-js";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import * as fc from "fast-check";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { Verbs } from "../../src/plugin/resources";
import { createService } from "../../src/plugin/service";

const URN = "urn:pulumi:dev::test::my:component$webhooks:index:WebhookEndpoint::jobs";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
const struct = (properties: object) => Struct.fromJavaScript(properties as never);

/** The service over verbs that record how they are called and answer as they are told to. */
function serviceOver(answers: Partial<Record<keyof Verbs, unknown>> = {}) {
  const calls: unknown[][] = [];
  const verb =
    (name: keyof Verbs) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
      const answer = answers[name];
      if (answer instanceof Error) throw answer;
      return answer as never;
    };
  const verbs: Verbs = {
    check: verb("check"),
    diff: verb("diff"),
    create: verb("create"),
    read: verb("read"),
    update: verb("update"),
    delete: verb("delete"),
  };
  const settings: ((key: string) => string | undefined)[] = [];
  const attached: string[] = [];
  const service = createService({
    environment: { PULUMI_CONFIG: '{"baseUrl":"https://stack.example.com","apiKey":"of the stack"}' },
    engine: {
      warn: () => {},
      info: () => {},
      rootUrn: async () => undefined,
      attach: (address) => attached.push(address),
      cancel: () => attached.push("cancelled"),
      met: () => {},
    },
    resources: {
      configure: async (get) => void settings.push(get),
      of: () => ({ verbs, outputNames: ["url", "createdAt"], secretNames: ["key"], nameInput: "__name" }),
    },
  });
  const call = <Response>(name: string, request: object): Promise<Response> =>
    new Promise((resolve, reject) => {
      const handler = service[name] as handleUnaryCall<object, Response>;
      handler({ request } as never, (error, response) => {
        if (error === null) resolve(response as Response);
        else reject(error);
      });
    });
  return { call, calls, settings, attached };
}

/** A request of any verb: each has some of these setters. */
function requestOf<T extends object>(request: T, fields: Readonly<Record<string, unknown>>): T {
  for (const [name, value] of Object.entries({ Urn: URN, ...fields })) {
    const setter: unknown = Reflect.get(request, `set${name}`);
    if (typeof setter !== "function") throw new Error(`the request has no ${name}`);
    setter.call(request, value);
  }
  return request;
}

describe("the plugin passes what the engine says to the verb, and what the verb says to the engine", () => {
  const plain = { url: "https://a.example.com", ip: null, n: 1, list: [1, { a: "b" }] };

  test("check", async () => {
    const failures = [{ property: "", reason: "url is missing" }];
    const { call, calls } = serviceOver({ check: { inputs: { url: "u", key: "k" }, failures } });
    const news = { url: secret("u"), key: "k" };
    const request = requestOf(new proto.CheckRequest(), { Olds: struct(plain), News: struct(news) });
    const response = await call<proto.CheckResponse>("check", request);
    expect(calls).toEqual([["check", plain, { url: "u", key: "k", __name: "jobs" }]]);
    expect(response.getInputs()?.toJavaScript()).toEqual({ url: secret("u"), key: secret("k") });
    expect(response.toObject().failuresList).toEqual(failures);
  });

  test.each([
    [{ changes: true, replaces: ["url", "type"] }, 2, ["url", "type"]],
    [{ changes: true }, 2, []],
    [{ changes: false, replaces: [] }, 1, []],
  ])("diff %#", async (answer, changes, replaces) => {
    const { call, calls } = serviceOver({ diff: answer });
    const fields = { Id: "wh_1", Olds: struct({ ...plain, url: secret("u") }), News: struct(plain) };
    const response = await call<proto.DiffResponse>("diff", requestOf(new proto.DiffRequest(), fields));
    expect(calls).toEqual([["diff", "wh_1", { ...plain, url: "u" }, plain]]);
    expect(response.getChanges()).toBe(changes);
    expect(response.getReplacesList()).toEqual(replaces);
  });

  test.each([
    ["changed", { url: "u" }, { url: "v" }, [["url", "UPDATE_REPLACE"]]],
    ["added", { url: null }, { url: "v" }, [["url", "ADD_REPLACE"]]],
    ["removed", { url: "u" }, {}, [["url", "DELETE_REPLACE"]]],
    ["of no declared property", { url: "u", account: "a" }, { url: "u" }, []],
  ])("diff, which shows only what the program declares: %s", async (_what, olds, news, shown) => {
    const replaces = shown.length > 0 ? ["url"] : ["account"];
    const { call } = serviceOver({ diff: { changes: true, replaces } });
    const fields = { Id: "wh_1", Olds: struct(olds), News: struct(news) };
    const response = await call<proto.DiffResponse>("diff", requestOf(new proto.DiffRequest(), fields));
    const { Kind } = proto.PropertyDiff;
    const kinds = Object.fromEntries(Object.entries(Kind).map(([name, kind]) => [kind, name]));
    expect(response.getHasdetaileddiff()).toBe(true);
    const given: unknown[] = [];
    response.getDetaileddiffMap().forEach((diff, name) => {
      given.push([name, kinds[diff.getKind()]]);
    });
    expect(given).toEqual(shown);
  });

  test("create", async () => {
    const { call, calls } = serviceOver({ create: { id: "wh_1", outs: { url: "u", at: null } } });
    const request = requestOf(new proto.CreateRequest(), { Properties: struct({ url: secret("u") }) });
    const response = await call<proto.CreateResponse>("create", request);
    expect(calls).toEqual([["create", { url: "u" }]]);
    expect(response.getId()).toBe("wh_1");
    expect(response.getProperties()?.toJavaScript()).toEqual({ url: secret("u"), at: null });
  });

  test("create in a preview, which calls no verb", async () => {
    const { call, calls } = serviceOver();
    const fields = { Properties: struct({ url: "u", ip: "i" }), Preview: true };
    const response = await call<proto.CreateResponse>("create", requestOf(new proto.CreateRequest(), fields));
    expect(calls).toEqual([]);
    expect(response.getId()).toBe("");
    expect(response.getProperties()?.toJavaScript()).toEqual({ url: "u", createdAt: UNKNOWN });
  });

  test("create that fails half-way", async () => {
    const half = { id: "pending:1", properties: { url: "u", key: "k" }, reasons: ["why"] };
    const { call } = serviceOver({ create: Object.assign(new Error("lost (PENDING)"), half) });
    const request = requestOf(new proto.CreateRequest(), { Properties: struct({ url: secret("u") }) });
    const error = await call("create", request).catch((thrown: unknown) => thrown as never);
    expect(error).toMatchObject({ code: 2, details: "lost (PENDING)" });
    const [encoded] = (error as { metadata: { get(name: string): Buffer[] } }).metadata.get(
      "grpc-status-details-bin",
    );
    const [detail] = Status.deserializeBinary(encoded ?? Buffer.alloc(0)).getDetailsList();
    expect(detail?.getTypeUrl()).toBe("type.googleapis.com/pulumirpc.ErrorResourceInitFailed");
    const failed = ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() ?? new Uint8Array());
    expect(failed.getId()).toBe("pending:1");
    expect(failed.getReasonsList()).toEqual(["why"]);
    expect(failed.getProperties()?.toJavaScript()).toEqual({ url: secret("u"), key: secret("k") });
  });

  test("read of a resource in the state, which keeps its inputs", async () => {
    const props = { url: "u", createdAt: "now", external: true };
    const { call, calls } = serviceOver({ read: { id: "wh_2", props } });
    const inputs = { url: secret("u"), adoptId: "wh_2" };
    const fields = { Id: "wh_2", Properties: struct({ url: "u" }), Inputs: struct(inputs) };
    const response = await call<proto.ReadResponse>("read", requestOf(new proto.ReadRequest(), fields));
    expect(calls).toEqual([["read", "wh_2", { url: "u" }]]);
    expect(response.getId()).toBe("wh_2");
    expect(response.getProperties()?.toJavaScript()).toEqual({ url: secret("u"), createdAt: "now" });
    expect(response.getInputs()?.toJavaScript()).toEqual(inputs);
  });

  test("read for an import, whose inputs become the program text", async () => {
    const { call, calls } = serviceOver({ read: { id: "wh_2", props: plain, inputs: { url: "u" } } });
    const fields = { Id: "wh_2", Properties: struct({}) };
    const response = await call<proto.ReadResponse>("read", requestOf(new proto.ReadRequest(), fields));
    expect(calls).toEqual([["read", "wh_2", {}]]);
    expect(response.getInputs()?.toJavaScript()).toEqual({ url: "u" });
  });

  test("read of what is gone", async () => {
    const { call } = serviceOver({ read: {} });
    const fields = { Id: "wh_2", Properties: struct(plain), Inputs: struct(plain) };
    const response = await call<proto.ReadResponse>("read", requestOf(new proto.ReadRequest(), fields));
    expect(response.toObject()).toMatchObject({ id: "", properties: undefined, inputs: undefined });
  });

  test("update, which drops the dynamic provider's code", async () => {
    const { call, calls } = serviceOver({ update: { outs: { url: "u", __provider: "code" } } });
    const fields = { Id: "wh_1", Olds: struct({ url: "u", __provider: "code" }), News: struct({ url: "u" }) };
    const response = await call<proto.UpdateResponse>("update", requestOf(new proto.UpdateRequest(), fields));
    expect(calls).toEqual([["update", "wh_1", { url: "u", __provider: "code" }, { url: "u" }]]);
    expect(response.getProperties()?.toJavaScript()).toEqual({ url: "u" });
  });

  test("delete, and an error of it", async () => {
    const request = requestOf(new proto.DeleteRequest(), {
      Id: "wh_1",
      Properties: struct({ url: secret("u") }),
    });
    const working = serviceOver();
    await working.call("delete", request);
    expect(working.calls).toEqual([["delete", "wh_1", { url: "u" }]]);
    const failing = serviceOver({ delete: new Error("refused (KEY_REFUSED)") });
    await expect(failing.call("delete", request)).rejects.toMatchObject({
      code: 2,
      details: "refused (KEY_REFUSED)",
    });
  });
});

test("settings come from the provider's inputs, then from the stack's configuration", async () => {
  const { call, settings } = serviceOver();
  const args = struct({ apiKey: secret("of the provider"), timeoutSeconds: 7, apiKeyHeader: "" });
  const request = new proto.ConfigureRequest().setArgs(args).setName("staging");
  const response = await call<proto.ConfigureResponse>("configure", request);
  expect(response.toObject()).toMatchObject({ acceptsecrets: true, supportspreview: true });
  const [get] = settings;
  expect(get?.("webhooks:apiKey")).toBe("of the provider");
  expect(get?.("webhooks:baseUrl")).toBe("https://stack.example.com");
  expect(get?.("webhooks:timeoutSeconds")).toBe("7");
  expect(get?.("webhooks:apiKeyHeader")).toBeUndefined();
  expect(get?.("webhooks:providerName")).toBe("staging");
  await call("configure", request.setName("default_0_1_0"));
  expect(settings[1]?.("webhooks:providerName")).toBe("");
});

test("another key or base URL never replaces the provider", async () => {
  const { call } = serviceOver();
  const request = new proto.DiffRequest();
  request.setOlds(struct({ apiKey: secret("a"), baseUrl: "b" }));
  request.setNews(struct({ apiKey: secret("c"), baseUrl: "d" }));
  const changed = await call<proto.DiffResponse>("diffConfig", request);
  expect([changed.getChanges(), changed.getReplacesList()]).toEqual([2, []]);
  request.setNews(request.getOlds());
  expect((await call<proto.DiffResponse>("diffConfig", request)).getChanges()).toBe(1);
});

test.each([
  ["getWebhookEndpoint", {}, /not a valid id/],
  ["getWebhookEndpoint", { id: ["wh_1"] }, /not a valid id/],
  ["getWebhookEndpoints", { type: "prod" }, /type must be "production" or "development"/],
  ["getWebhookEndpoints", { url: 5 }, /url must be a string/],
  ["getWebhookEndpoints", { typ: "production" }, /typ is not an argument of getWebhookEndpoints; use /],
  ["getNothing", {}, /no function/],
])("%s refuses %j without asking the service", async (name, args, details) => {
  const { call } = serviceOver();
  await call("configure", new proto.ConfigureRequest());
  const request = new proto.InvokeRequest().setTok(`webhooks:index:${name}`).setArgs(struct(args));
  await expect(call("invoke", request)).rejects.toMatchObject({ details: expect.stringMatching(details) });
});

test("attach is where the log goes from then on, and cancel is answered", async () => {
  const { call, attached } = serviceOver();
  await call("attach", { getAddress: () => "127.0.0.1:1" });
  expect(attached).toEqual(["127.0.0.1:1"]);
  await expect(call("cancel", {})).resolves.toBeDefined();
  expect(attached.at(-1)).toBe("cancelled");
});

test("whatever a program's values are, the verb gets them without envelopes, and unknown ones as one kind", async () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.constantFrom(UNKNOWN, "3eeb2bf0-c639-47a8-9e75-3b44932eb421", "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"),
  );
  const key = fc.string().filter((name) => name !== "__proto__");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3 }),
      fc.record({ hidden: tie("value") }),
    ),
  }));
  /** What the engine sends: what is `hidden` is in an envelope. */
  const sent = (tree: unknown): unknown => map(tree, sent, (inner) => secret(sent(inner)));
  /** The same as the verb must get it. */
  const got = (tree: unknown): unknown =>
    typeof tree === "string" && /^(3eeb2bf0|6a19a0b0)-/.test(tree) ? UNKNOWN : map(tree, got, got);
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 5 }), async (tree) => {
      const properties = Object.fromEntries(Object.entries(tree).map(([name, one]) => [name, sent(one)]));
      const plain = Object.fromEntries(Object.entries(tree).map(([name, one]) => [name, got(one)]));
      const { call, calls } = serviceOver({ create: { id: "i", outs: plain } });
      const request = requestOf(new proto.CreateRequest(), { Properties: struct(properties) });
      const response = await call<proto.CreateResponse>("create", request);
      expect(calls).toEqual([["create", plain]]);
      const back = response.getProperties()?.toJavaScript() ?? {};
      for (const [name, one] of Object.entries(plain)) {
        const isSecret = one !== null && JSON.stringify(properties[name]).includes("1b47061264138c4a");
        expect(back[name]).toEqual(isSecret || (name === "key" && one !== null) ? secret(one) : one);
      }
    }),
    { numRuns: 200 },
  );
});

function map(tree: unknown, each: (one: unknown) => unknown, hidden: (one: unknown) => unknown): unknown {
  if (Array.isArray(tree)) return tree.map(each);
  if (typeof tree !== "object" || tree === null) return tree;
  const entries = Object.entries(tree);
  if (entries.length === 1 && entries[0]?.[0] === "hidden") return hidden(entries[0][1]);
  return Object.fromEntries(entries.map(([name, one]) => [name, each(one)]));
}
