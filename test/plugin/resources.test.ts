import { CheckRequest, CreateRequest, ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { type Emulator, startEmulator } from "../../src/emulator";
import { contentOf, NativePlugin, requestOf, secret, struct } from "./nativePlugin";

// The life of each resource is in test/engine/native.test.ts, on the real CLI.

let emulator: Emulator;
let plugin: NativePlugin;
beforeEach(async () => {
  emulator = await startEmulator();
  plugin = await NativePlugin.start();
  await plugin.configure({ baseUrl: emulator.url, apiKey: secret(emulator.apiKey) });
});
afterEach(async () => {
  await plugin.stop();
  await emulator.close();
});

test("a cancelled creation whose registration got no response fails as half-made, and its secret url stays secret", async () => {
  emulator.fault({ operation: "register", kind: "reset-after" });
  const forever = { after: 1, times: Number.POSITIVE_INFINITY };
  emulator.fault({ operation: "list", kind: "status", status: 400, ...forever });
  const declared = { url: secret("https://hooks.example.com/t0ken"), type: "production" };
  const request = requestOf(new CreateRequest(), { Properties: struct(declared) });
  const creating = plugin.call("create", request).then(
    () => undefined,
    (thrown: unknown) => thrown as { details: string; metadata: { get(name: string): Buffer[] } },
  );
  // A list, the registration, and a list that fails: it would be repeated until the timeout.
  while (emulator.requests.length < 3) await new Promise(setImmediate);
  await plugin.call("cancel", new Empty());
  const error = await creating;
  expect(error?.details).toMatch(
    /^the registration of https:\/\/hooks\.example\.com\/… was sent.*\(REGISTRATION_PENDING\)$/,
  );
  const [encoded] = error?.metadata.get("grpc-status-details-bin") ?? [];
  const [detail] = Status.deserializeBinary(encoded ?? Buffer.alloc(0)).getDetailsList();
  expect(detail?.getTypeUrl()).toBe("type.googleapis.com/pulumirpc.ErrorResourceInitFailed");
  const failed = ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() ?? new Uint8Array());
  expect(contentOf(failed)).toMatchObject({
    Id: expect.stringMatching(/^pending:/),
    Properties: declared,
    ReasonsList: [expect.stringContaining("REGISTRATION_PENDING")],
  });
});

test("a warning reaches the engine's log with the resource's name", async () => {
  const News = struct({ url: "http://hooks.example.com/jobs", type: "production" });
  await plugin.call("check", requestOf(new CheckRequest(), { Olds: struct({}), News }));
  // It goes to the engine on its own, not with the response.
  while (plugin.warnings.length === 0) await new Promise(setImmediate);
  expect(plugin.warnings).toEqual([expect.stringMatching(/^WebhookEndpoint "jobs": .*plain http/)]);
});

test("a resource that the schema does not have is refused", async () => {
  const Urn = "urn:pulumi:dev::test::webhooks:index:Nothing::n";
  const request = requestOf(new CheckRequest(), { Urn, News: struct({}) });
  await expect(plugin.call("check", request)).rejects.toMatchObject({
    details: "webhooks has no resource webhooks:index:Nothing",
  });
});
