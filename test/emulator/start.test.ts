import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve as pathTo } from "node:path";
import { promisify } from "node:util";
import { type Emulator, EmulatorError, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { call, HOOK, started } from "./support";

/** One millisecond more than a timer of Node.js holds. It would fire at once. */
const TOO_LONG_MS = 2 ** 31;

describe("an emulator", () => {
  test("an emulator starts without options", async () => {
    const emulator = await started();
    const response = await fetch(`${emulator.url}/webhooks`, {
      headers: { "X-Api-Key": "emulator-api-key" },
    });
    expect(await response.json()).toEqual([]);
    expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("one error names every invalid option, and no API key", async () => {
    const options = {
      prot: 1,
      port: -1,
      basePath: "api",
      apiKey: 5,
      accounts: { "": "x", "a-key-to-look-for": "" },
      apiKeyHeader: "X Api Key",
      apiKeyScheme: "two words",
      listShape: "list",
      pageSize: 0,
      moreSign: "more",
      latencyMs: -1,
      rateLimit: { requestsPerSecond: 0, burst: 0 },
    };
    const error: unknown = await startEmulator(options as unknown as EmulatorOptions).catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(EmulatorError);
    const { code, message } = error as EmulatorError;
    expect(code).toBe("EMULATOR_OPTIONS");
    for (const name of [
      "prot",
      "port",
      "basePath",
      "API key",
      "apiKey must",
      "account",
      "apiKeyHeader",
      "apiKeyScheme",
      "listShape",
    ]) {
      expect(message).toContain(name);
    }
    for (const name of ["pageSize", "moreSign", "latencyMs", "requestsPerSecond", "burst"]) {
      expect(message).toContain(name);
    }
    expect(message).not.toContain("a-key-to-look-for");
  });

  test.each<[string, EmulatorOptions]>([
    ["latencyMs", { latencyMs: TOO_LONG_MS }],
    ["retryDelaysMs", { retryDelaysMs: [1, TOO_LONG_MS] }],
    ["deliveryTimeoutMs", { deliveryTimeoutMs: TOO_LONG_MS }],
    ["deliveryTimeoutMs", { deliveryTimeoutMs: Number.POSITIVE_INFINITY }],
  ])("an emulator refuses a %s that no timer holds: %j", async (name, options) => {
    await expect(started(options)).rejects.toMatchObject({
      code: "EMULATOR_OPTIONS",
      message: expect.stringContaining(name),
    });
  });

  test.each<[string, (emulator: Emulator) => unknown]>([
    ["a delay", (emulator) => emulator.fault({ operation: "any", kind: "delay", delayMs: TOO_LONG_MS })],
    [
      "a late commit",
      (emulator) => emulator.fault({ operation: "any", kind: "late-commit", delayMs: Infinity }),
    ],
    ["a retry", (emulator) => emulator.deliver({ type: "job.running", retryDelaysMs: [TOO_LONG_MS] })],
    ["a retry before 1970", (emulator) => emulator.deliver({ type: "job.running", retryDelaysMs: [-1] })],
    ["a delivery", (emulator) => emulator.deliver({ type: "job.running", timeoutMs: TOO_LONG_MS })],
    ["a job", (emulator) => emulator.runJob({ durationMs: TOO_LONG_MS })],
    ["a wait for a job", (emulator) => emulator.runJob({ timeoutMs: Number.NaN })],
  ])("an emulator refuses %s with a time that no timer holds", async (_, act) => {
    const emulator = await started();
    await expect((async () => act(emulator))()).rejects.toMatchObject({ code: "EMULATOR_OPTIONS" });
  });

  const type = "job.running";
  test.each<[string, (emulator: Emulator) => unknown, RegExp]>([
    [
      "deliver",
      (emulator) => emulator.deliver({ type, endpoint: "wh_1" } as never),
      /endpoint is not.*endpointId/,
    ],
    ["runJob", (emulator) => emulator.runJob({ jobid: "1" } as never), /jobid is not.*jobId/],
    ["runJob", (emulator) => emulator.runJob({ outcome: "fail" } as never), /succeeded or failed/],
    ["rotateSecret", (emulator) => emulator.rotateSecret({ typ: "production" } as never), /typ is not.*type/],
    [
      "rotateSecret",
      (emulator) => emulator.rotateSecret({ type: "prod" } as never),
      /production or development/,
    ],
    ["deliver", (emulator) => emulator.deliver({ data: {} } as never), /name of the event/],
    [
      "deliver",
      (emulator) => emulator.deliver({ type, endpointType: "dev" } as never),
      /production or development/,
    ],
    ["deliver, given a name alone", (emulator) => emulator.deliver(type as never), /an object with .*type/],
    [
      "rotateSecret, given a secret alone",
      (emulator) => emulator.rotateSecret(emulator.secrets()[0] as never),
      /an object with secret/,
    ],
    ["add", (emulator) => emulator.add({ url: "https://a.example", type: "dev" } as never), /production or/],
    [
      "add without a url",
      (emulator) => emulator.add({ url: undefined, type: "production" } as never),
      /needs a url/,
    ],
    ["add without a type", (emulator) => emulator.add({ url: "https://a.example" } as never), /a type/],
    [
      "edit to no url",
      (emulator) => {
        const { id } = emulator.add({ url: "https://a.example", type: "production" });
        return emulator.edit(id, { url: undefined } as never);
      },
      /needs a url/,
    ],
    [
      "fault",
      (emulator) => emulator.fault({ operation: "any", kind: "refuse", count: 3 } as never),
      /count is not/,
    ],
  ])("%s refuses what it does not know", async (_, act, problem) => {
    const emulator = await started();
    await expect((async () => act(emulator))()).rejects.toMatchObject({
      code: "EMULATOR_OPTIONS",
      message: expect.stringMatching(problem),
    });
  });

  test("an endpoint may be copied into add and edit, and keeps the id that the emulator gave it", async () => {
    const emulator = await started();
    const one = emulator.add({ url: "https://a.example", type: "production" });
    const two = emulator.add({ ...one });
    expect(two.id).not.toBe(one.id);
    expect(emulator.edit(two.id, { ...one, type: "development" }).id).toBe(two.id);
    expect(emulator.endpoints().map(({ id, type }) => ({ id, type }))).toEqual([
      { id: one.id, type: "production" },
      { id: two.id, type: "development" },
    ]);
  });

  test.each([
    [{ secrets: { prod: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" } }, /prod is not.*production/],
    [{ now: 5 }, /now/],
    [{ host: 5 }, /host/],
  ])("an emulator does not start with %j", async (options, problem) => {
    await expect(started(options as never)).rejects.toMatchObject({
      code: "EMULATOR_OPTIONS",
      message: expect.stringMatching(problem),
    });
  });

  test("an emulator keeps nothing in memory that was to be in a file", async () => {
    const options = { dataFile: new URL("file:///tmp/data.json") } as unknown as EmulatorOptions;
    await expect(started(options)).rejects.toMatchObject({ code: "EMULATOR_OPTIONS" });
  });

  test("the error for a port in use names the address", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startEmulator({ port })).rejects.toMatchObject({
      code: "EMULATOR_LISTEN",
      message: expect.stringContaining(`127.0.0.1:${port} (EADDRINUSE)`),
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test("close() can be called twice, and a closed emulator refuses connections", async () => {
    const emulator = await started();
    await call(emulator, "POST /webhooks", { body: HOOK });
    await Promise.all([emulator.close(), emulator.close()]);
    await expect(call(emulator, "GET /webhooks")).rejects.toThrow();
    await emulator.close();
    await expect(emulator.goOnline()).rejects.toMatchObject({ code: "EMULATOR_CLOSED" });
  });

  test("a closed emulator does not keep its process alive, even with requests and retries in progress", async () => {
    const program = `
      const { startEmulator } = require(${JSON.stringify(pathTo(__dirname, "../../src/emulator"))});
      (async () => {
        const emulator = await startEmulator({ rateLimit: { requestsPerSecond: 100 } });
        const { id } = emulator.add({ url: emulator.url, type: "production" });
        for (let n = 0; n < 20; n += 1) emulator.add({ url: emulator.url, type: "production" });
        for (const kind of ["hang-before", "late-commit"]) emulator.fault({ operation: "get", kind, delayMs: 60000 });
        const lost = [1, 2].map(() => fetch(emulator.url + "/webhooks/" + id).catch(() => "lost"));
        const delivery = emulator.deliver({ type: "job.running", retryDelaysMs: [60000] });
        while (emulator.deliveries.length < 21 || emulator.requests.length < 3) await new Promise(setImmediate);
        await emulator.close();
        console.log(await Promise.all(lost), (await delivery).endpoints[0].outcome);
      })();
    `;
    const options = {
      cwd: pathTo(__dirname, "../.."),
      env: { ...process.env, NODE_OPTIONS: "" },
      timeout: 25_000,
    };
    const args = ["-r", "ts-node/register/transpile-only", "-e", program];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    expect(stdout).toBe("[ 'lost', 'lost' ] closed\n");
    expect(stderr).toBe("");
  });
});
