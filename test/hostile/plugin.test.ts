import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { NativePlugin, requestOf, secret, struct } from "../plugin/nativePlugin";
import { hostileService, JOBS } from "./service";
import { EACH_VALUE, harmIn, VALUES } from "./values";

/** The plugin of the test, and all that a terminal got: failures of checks, errors and warnings. */
let plugin: NativePlugin;
let shown: string[];
beforeEach(async () => {
  plugin = await NativePlugin.start();
  shown = [];
});
afterEach(() => plugin.stop());

/** Sends a request, and notes what it says. */
async function ask(method: string, request: object): Promise<void> {
  try {
    const response = await plugin.call(method, request);
    for (const { reason } of (response.FailuresList ?? []) as { reason: string }[]) shown.push(reason);
  } catch (error) {
    shown.push((error as { details: string }).details);
  }
}

const other = (url: string) => ({ ...JOBS, url });

/** Whoever put these lines there, a line that begins a way on is ours. */
const harm = () => harmIn([...shown, ...plugin.warnings].join("\n"));

test.each(EACH_VALUE)(
  "a service whose values are %s is harmless in every message of the provider",
  async (_what, value) => {
    const stored = `https://user:hunter2@hooks.example.com/${value}`;
    // A server takes no path as long as that.
    const isLong = value.length > 1_000;
    const rows = [
      { id: value, ...JOBS, createdAt: value, updatedAt: value },
      { id: `${value}2`, ...JOBS, createdAt: value },
      { id: `${value}3`, url: stored, type: "production" },
      { id: `${value}4`, url: "https://hooks.example.com/once", type: "development", createdAt: value },
      { id: `${value}5`, url: null, type: "development" },
    ];
    const baseUrl = await hostileService(rows, { error: value, more: `\n${value}` });
    await plugin.configure({ baseUrl, apiKey: secret("key-2b8f6d0c9e4a7153"), showResponses: "true" });

    for (const url of [JOBS.url, "https://hooks.example.com/once", "https://hooks.example.com/none"])
      for (const adoptId of isLong ? [undefined] : [undefined, value, `${value}3`, `${value}none`]) {
        const declared = struct({ ...other(url), ...(adoptId && { adoptId }) });
        await ask("check", requestOf(new proto.CheckRequest(), { Olds: struct({}), News: declared }));
        await ask("create", requestOf(new proto.CreateRequest(), { Properties: declared }));
      }
    await ask("read", requestOf(new proto.ReadRequest(), { Id: `${value}none` }));
    const recorded = { ...JOBS, ip: null, createdAt: null, updatedAt: null, baseUrl: value, account: "abc" };
    for (const state of [recorded, { ...recorded, baseUrl }]) {
      const Properties = struct(state);
      await ask("read", requestOf(new proto.ReadRequest(), { Id: `${value}3`, Properties }));
      // Where its endpoint is listed and denied, the provider asks for some seconds.
      const request = requestOf(new proto.DeleteRequest(), { Id: `${value}3`, Properties });
      if (state.baseUrl === value || value === VALUES.newlines) await ask("delete", request);
      await ask(
        "diff",
        requestOf(new proto.DiffRequest(), { Id: value, Olds: Properties, News: Properties }),
      );
    }
    const Args = struct({ id: value });
    await ask(
      "invoke",
      requestOf(new proto.InvokeRequest(), { Tok: "webhooks:index:getWebhookEndpoint", Args }),
    );
    await ask("invoke", requestOf(new proto.InvokeRequest(), { Tok: value, Args }));

    expect(harm()).toEqual([]);
    // It has met each of these.
    const all = [...shown, ...plugin.warnings].join("\n");
    for (const code of [
      "ENDPOINT_EXISTS",
      "OTHER_BASE_URL",
      "REJECTED",
      ...(isLong ? [] : ["ADOPT_MISMATCH", "NOT_FOUND"]),
    ])
      expect(all).toContain(`(${code})`);
    expect(all).toContain("the service answered 422");
  },
);

test("an id that is an option is in no command and in no code that a message advises", async () => {
  const id = VALUES["an option"] ?? "";
  const baseUrl = await hostileService([{ id, ...JOBS, createdAt: null }]);
  await plugin.configure({ baseUrl, apiKey: secret("key-2b8f6d0c9e4a7153") });
  await ask("create", requestOf(new proto.CreateRequest(), { Properties: struct(JOBS) }));
  expect(shown.join("\n")).toMatch(/set adoptId to its id\..*delete …` \(`list` shows its id\)/s);
  expect(shown.join("\n").replace(/resource of this stack has: --orphans/, "")).not.toContain(id);
});

test("a response that is deep JSON is not shown, and does not hide why a request failed", async () => {
  const baseUrl = await hostileService([], "[".repeat(100_000) + "]".repeat(100_000));
  await plugin.configure({ baseUrl, apiKey: secret("key-2b8f6d0c9e4a7153"), showResponses: "true" });
  await ask("create", requestOf(new proto.CreateRequest(), { Properties: struct(JOBS) }));
  expect(shown.join("\n")).toContain("(REJECTED)");
  expect(plugin.warnings.join()).toMatch(/answered 422: \(JSON that is too deep to be shown\)/);
});
