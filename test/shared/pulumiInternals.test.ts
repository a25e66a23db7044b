import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import { connectEngine } from "../../src/provider/engine";
import {
  cancellation,
  failOnce,
  isEncrypted,
  isMocked,
  printedOnce,
  sdkBeside,
  stackConfiguration,
} from "../../src/shared/pulumiInternals";

// Seen in Node.js 20.20, 22 and 24, and in @pulumi/pulumi 3.150 and 3.248. CI runs this on each Node.js.
const plugin = require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");

/** Sends a request for each path to an HTTP/2 server of this process, and returns whether `cancellation` fired after each. */
async function firedAfter(...paths: string[]): Promise<boolean[]> {
  const server = createServer().on("stream", (stream) => stream.respond({}, { endStream: true }));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cancelled = cancellation();
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const fired: boolean[] = [];
  for (const path of paths) {
    await once(client.request({ ":path": path }).resume(), "close");
    fired.push(cancelled.aborted);
  }
  client.close();
  server.close();
  return fired;
}
const paths = ["/pulumirpc.ResourceProvider/Create", "/pulumirpc.ResourceProvider/Cancel"];

test("Node.js finds the plugin's server by `_getActiveHandles`, and the signal fires at the engine's Cancel alone", async () => {
  expect(await firedAfter(...paths)).toEqual([false, true]);
});

test("without `_getActiveHandles`, or with a list of something else, the signal never fires, and nothing throws", async () => {
  for (const gone of [undefined, () => undefined, () => [{}]]) {
    const found = Reflect.get(process, "_getActiveHandles");
    Reflect.set(process, "_getActiveHandles", gone);
    expect(await firedAfter(...paths)).toEqual([false, false]);
    Reflect.set(process, "_getActiveHandles", found);
  }
});

test("the SDK has its gRPC client beside the plugin's main file, with the calls that the provider makes", () => {
  const { grpc, services, messages } = sdkBeside(plugin);
  expect(grpc.connectivityState).toMatchObject({ READY: 2, TRANSIENT_FAILURE: 3 });
  expect(services.EngineClient.prototype).toMatchObject({
    log: expect.any(Function),
    getRootResource: expect.any(Function),
  });
  expect(messages.LogSeverity).toMatchObject({ INFO: 1, WARNING: 2 });
  expect([messages.LogRequest, messages.GetRootResourceRequest]).toEqual([
    expect.any(Function),
    expect.any(Function),
  ]);
});

test("without the SDK beside the plugin's main file, the engine hears nothing and names no stack, and nothing throws", async () => {
  const { argv } = process;
  process.argv = ["node", __filename, "127.0.0.1:1"];
  const engine = connectEngine();
  engine.warn("careful");
  expect(await engine.rootUrn()).toBeUndefined();
  expect(engine.cancelled?.aborted).toBe(false);
  process.argv = argv;
});

test("the plugin prints an error by its stack at once, which writes nothing; the next line is written again", async () => {
  expect(readFileSync(plugin, "utf8")).toMatch(/console\.error\(`\$\{e\}: \$\{e\.stack\}`\)/);
  expect(`${printedOnce(new Error("failed")).stack}`).toBe("");
  expect(Object.hasOwn(process.stderr, "write")).toBe(true);
  expect(process.stderr.write("nobody sees this")).toBe(true);
  await Promise.resolve();
  expect(Object.hasOwn(process.stderr, "write")).toBe(false);
});

test("if the stream's `write` cannot be replaced, the error is printed twice, and nothing throws", () => {
  const { write } = process.stderr;
  Object.defineProperty(process.stderr, "write", { value: write, writable: false, configurable: true });
  expect(printedOnce(new Error("failed")).stack).toBe("");
  expect(process.stderr.write).toBe(write);
  Reflect.deleteProperty(process.stderr, "write");
});

test("the SDK's outputs have promises of their own, and one without them is returned as it is", async () => {
  const output = failOnce(pulumi.output("known"));
  expect(await Reflect.get(output, "isKnown")).toBe(true);
  expect(await Reflect.get(output, "isSecret")).toBe(false);
  const other = {};
  expect(failOnce(other)).toBe(other);
});

test("the SDK's own monitor is in place until `setMocks` puts another one there", async () => {
  expect(isMocked(undefined)).toBe(false);
  await pulumi.runtime.setMocks({
    newResource: () => ({ id: "id", state: {} }),
    call: () => ({}),
  });
  expect(isMocked(pulumi.runtime.getMonitor())).toBe(true);
});

test("the SDK tells which keys of the configuration are encrypted, and without that function, nobody knows", () => {
  pulumi.runtime.setAllConfig({ "webhooks:apiKey": "encrypted", "webhooks:baseUrl": "plain" }, [
    "webhooks:apiKey",
  ]);
  expect(isEncrypted(pulumi.runtime, "webhooks:apiKey")).toBe(true);
  expect(isEncrypted(pulumi.runtime, "webhooks:baseUrl")).toBe(false);
  expect(isEncrypted({}, "webhooks:apiKey")).toBeUndefined();
});

test("a native plugin finds the stack's configuration in PULUMI_CONFIG, and none where that is missing or no JSON", () => {
  const PULUMI_CONFIG = '{"baseUrl":"https://example.com"}';
  expect(stackConfiguration({ PULUMI_CONFIG })).toEqual({ baseUrl: "https://example.com" });
  expect(stackConfiguration({})).toEqual({});
  for (const odd of ["", "no JSON", "null"]) expect(stackConfiguration({ PULUMI_CONFIG: odd })).toEqual({});
});
