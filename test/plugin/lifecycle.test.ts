import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { type Emulator, startEmulator } from "../../src/emulator";
import type { Deployment } from "../../src/provider/stackState";
import { secret as signingSecret } from "../receiver/support";
import { always, closeServers, ours, serve } from "../validation/receivers";
import { contentOf, NativePlugin, requestOf, secret, struct } from "./nativePlugin";

let emulator: Emulator;
const plugins: NativePlugin[] = [];

beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(async () => {
  for (const plugin of plugins.splice(0)) await plugin.stop();
  await emulator.close();
  await closeServers();
});

/** Starts a plugin, as each command of Pulumi does. */
async function command(settings: object = {}, state: Deployment["resources"] = []): Promise<NativePlugin> {
  const plugin = await NativePlugin.start({ state });
  plugins.push(plugin);
  const apiKey = secret(emulator.apiKey);
  await plugin.configure({ baseUrl: emulator.url, apiKey, ...settings });
  return plugin;
}

const url = "https://hooks.example.com/t0ken";
const declared = { url: secret(url), type: "production" };
const check = (plugin: NativePlugin, news: object) =>
  plugin.call("check", requestOf(new proto.CheckRequest(), { Olds: struct({}), News: struct(news) }));
const create = (plugin: NativePlugin, inputs: unknown, more: object = {}) =>
  plugin.call(
    "create",
    requestOf(new proto.CreateRequest(), { Properties: struct(Object(inputs)), ...more }),
  );

test("an endpoint lives from check to delete, and its secret url stays secret", async () => {
  const up = await command();
  const { Inputs, FailuresList } = await check(up, declared);
  expect({ Inputs, FailuresList }).toMatchObject({ Inputs: declared, FailuresList: [] });
  expect(Object.keys(Object(Inputs))).not.toContain("__resourceName");
  const { Id, Properties } = await create(up, Inputs);
  expect(emulator.endpoints()).toMatchObject([{ id: Id, url, type: "production" }]);
  expect(Properties).toMatchObject({ ...declared, ip: null, createdAt: null, updatedAt: null });

  const refresh = await command();
  const recorded = { Id, Properties: struct(Object(Properties)) };
  const read = await refresh.call(
    "read",
    requestOf(new proto.ReadRequest(), { ...recorded, Inputs: struct(Object(Inputs)) }),
  );
  expect(read).toMatchObject({ Id, Properties: { ...declared, createdAt: expect.any(String) }, Inputs });
  const diff = async (news: object) => {
    const request = { Id, Olds: recorded.Properties, News: struct(news) };
    return (await command()).call("diff", requestOf(new proto.DiffRequest(), request));
  };
  expect(await diff(declared)).toMatchObject({ Changes: 1, ReplacesList: [] });
  expect(await diff({ ...declared, type: "development" })).toMatchObject({
    Changes: 2,
    ReplacesList: ["type"],
    detailed: [["type", proto.PropertyDiff.Kind.UPDATE_REPLACE]],
  });
  await (await command()).call("delete", requestOf(new proto.DeleteRequest(), recorded));
  expect(emulator.endpoints()).toEqual([]);
});

test("check reports every problem of the arguments and the settings at once, without a value", async () => {
  const plugin = await command({ baseUrl: "ftp://t0ken", timeoutSeconds: -1 });
  const { FailuresList } = await check(plugin, { url: "t0ken", type: "prod", typo: 1 });
  const reasons = (FailuresList as { reason: string }[]).map(({ reason }) => reason).join("\n");
  const problems = [/typo is not an argument/, /url must/, /type must/, /baseUrl .*SETTINGS_INVALID/];
  for (const problem of [...problems, /timeoutSeconds .*SETTINGS_INVALID/]) expect(reasons).toMatch(problem);
  expect(reasons).not.toContain("t0ken");
});

test("a registration without an answer stays in the state as half-made, and the next command settles it", async () => {
  emulator.fault({ operation: "register", kind: "reset-after" });
  const forever = { after: 1, times: Number.POSITIVE_INFINITY };
  emulator.fault({ operation: "list", kind: "status", status: 400, ...forever });
  const up = await command();
  const creating = create(up, declared).then(
    () => undefined,
    (thrown: unknown) => thrown as { details: string; metadata: { get(name: string): Buffer[] } },
  );
  // A list, the registration, and a list that fails: it would be repeated until the timeout.
  while (emulator.requests.length < 3) await new Promise(setImmediate);
  await up.call("cancel", new Empty());
  const error = await creating;
  expect(error?.details).toMatch(
    /^the registration of https:\/\/hooks\.example\.com\/… was sent.*\(REGISTRATION_PENDING\)$/,
  );
  const [encoded] = error?.metadata.get("grpc-status-details-bin") ?? [];
  const [detail] = Status.deserializeBinary(encoded ?? Buffer.alloc(0)).getDetailsList();
  expect(detail?.getTypeUrl()).toBe("type.googleapis.com/pulumirpc.ErrorResourceInitFailed");
  const failed = ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() ?? new Uint8Array());
  const { Id, Properties, ReasonsList } = contentOf(failed);
  expect({ Id, Properties, ReasonsList }).toMatchObject({
    Id: expect.stringMatching(/^pending:/),
    Properties: declared,
    ReasonsList: [expect.stringContaining("REGISTRATION_PENDING")],
  });

  emulator.clearFaults();
  const settled = await (await command()).call(
    "read",
    requestOf(new proto.ReadRequest(), { Id, Properties: struct(Object(Properties)) }),
  );
  expect(emulator.endpoints()).toMatchObject([{ id: settled.Id, url }]);
});

test("a warning reaches the engine's log with the resource's name", async () => {
  const plugin = await command();
  await check(plugin, { url: "http://hooks.example.com/jobs", type: "production" });
  // It goes to the engine on its own, not with the answer.
  while (plugin.warnings.length === 0) await new Promise(setImmediate);
  expect(plugin.warnings).toEqual([expect.stringMatching(/^WebhookEndpoint "jobs": .*plain http/)]);
});

test("the functions return what the service has, and each value that they return is secret", async () => {
  const { id } = emulator.add({ url, type: "production" });
  const plugin = await command();
  const invoke = (name: string, args: object) =>
    plugin.call("invoke", new proto.InvokeRequest().setTok(`webhooks:index:${name}`).setArgs(struct(args)));
  const one = await invoke("getWebhookEndpoint", { id });
  expect(one).toMatchObject({ Return: { id: secret(id), url: secret(url), type: secret("production") } });
  const [all, none] = [[expect.objectContaining({ id, url })], []];
  expect(await invoke("getWebhookEndpoints", { url })).toMatchObject({ Return: { endpoints: secret(all) } });
  expect(await invoke("getWebhookEndpoints", { type: "development" })).toMatchObject({
    Return: { endpoints: secret(none) },
  });
});

test("a receiver's validation is created when the receiver passes, and refused when it does not", async () => {
  const urn = "urn:pulumi:dev::test::webhooks:index:ReceiverValidation::proven";
  const plugin = await command();
  const proven = (target: string) =>
    create(plugin, { url: target, secrets: secret([signingSecret]) }, { Urn: urn });
  expect(await proven(await serve(ours(signingSecret)))).toMatchObject({
    Id: expect.any(String),
    Properties: { secrets: secret([signingSecret]), validatedAt: expect.any(String) },
  });
  await expect(proven(await serve(always(200)))).rejects.toMatchObject({
    details: expect.stringContaining("BROKEN_ACCEPTED"),
  });
});

test("a resource that the schema does not have is refused", async () => {
  const plugin = await command();
  const Urn = "urn:pulumi:dev::test::webhooks:index:Nothing::n";
  const request = requestOf(new proto.CheckRequest(), { Urn, News: struct({}) });
  await expect(plugin.call("check", request)).rejects.toMatchObject({
    details: "webhooks has no resource webhooks:index:Nothing",
  });
});
