import { execFile } from "node:child_process";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve as pathTo } from "node:path";
import { promisify } from "node:util";
import { startEmulator } from "../../src/emulator";
import { receiver } from "./receiver";
import { call, folder, HOOK, started } from "./support";

describe("an emulator", () => {
  test("an emulator starts without options, and not with an empty API key, such as a variable that is not set", async () => {
    const emulator = await started();
    await expect(started({ apiKey: "" })).rejects.toMatchObject({ code: "EMULATOR_ARGUMENT" });
    const headers = { "X-Api-Key": "emulator-api-key" };
    expect(await (await fetch(`${emulator.url}/webhooks`, { headers })).json()).toEqual([]);
    expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("the error for a port in use names the address, or the emulator that runs there", async () => {
    const { url } = await started();
    await expect(startEmulator({ port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: "PORT_UNAVAILABLE",
      message: expect.stringContaining(`one runs at ${url} already`),
    });
    const port = Number(new URL((await receiver()).url).port);
    await expect(startEmulator({ port })).rejects.toMatchObject({
      code: "PORT_UNAVAILABLE",
      message: expect.stringContaining(`127.0.0.1:${port} (EADDRINUSE)`),
    });
  });

  test("an offline emulator refuses connections, and comes back on the same port with its endpoints", async () => {
    const emulator = await started();
    const { id } = emulator.add(HOOK);
    await emulator.goOffline();
    const refused = await call(emulator, "GET /webhooks").catch((error: Error) => error.cause);
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
    await emulator.goOnline();
    await emulator.goOnline();
    expect((await call(emulator, `GET /webhooks/${id}`)).status).toBe(200);
  });

  test("close() can be called twice, and a closed emulator refuses connections", async () => {
    const emulator = await started();
    await call(emulator, "POST /webhooks", { body: HOOK });
    await Promise.all([emulator.close(), emulator.close()]);
    await expect(call(emulator, "GET /webhooks")).rejects.toThrow();
    await emulator.close();
  });

  test("a closed emulator does not keep its process alive, even with requests and retries in progress", async () => {
    const program = `
      const { startEmulator } = require(${JSON.stringify(pathTo(__dirname, "../../src/emulator"))});
      (async () => {
        const emulator = await startEmulator();
        const { id } = emulator.add({ url: emulator.url, type: "production" });
        for (const kind of ["hang-before", "late-commit"]) emulator.fault({ operation: "get", kind, delayMs: 60000 });
        const lost = [1, 2].map(() => fetch(emulator.url + "/webhooks/" + id).catch(() => "lost"));
        const delivery = emulator.deliver({ event: "job.running", retryDelaysMs: [60000] });
        while (emulator.deliveries.length < 1 || emulator.requests.length < 3) await new Promise(setImmediate);
        await emulator.close();
        console.log(await Promise.all(lost), (await delivery).endpoints[0].outcome);
      })();
    `;
    const args = ["-r", "ts-node/register/transpile-only", "-e", program];
    const options = { cwd: pathTo(__dirname, "../.."), env: { ...process.env, NODE_OPTIONS: "" } };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    expect([stdout, stderr]).toEqual(["[ 'lost', 'lost' ] failed\n", ""]);
  });
});

describe("a data file", () => {
  const path = async () => join(await folder(), "emulator.json");

  test("a data file restores endpoints, API key and signing secrets, in the middle of a rotation too", async () => {
    const dataFile = await path();
    const accounts = { b: "other" };
    const first = await started({ dataFile, accounts });
    const [gone, kept] = [first.add(HOOK), first.add({ ...HOOK, ip: "192.0.2.1" })];
    await call(first, "POST /webhooks", { body: HOOK, key: "b" });
    first.edit(kept.id, { type: "development" });
    await call(first, `DELETE /webhooks/${gone.id}`);
    first.rotateKey(first.apiKey, "a-new-key");
    first.rotateSecret({ type: "production" });
    const state = (emulator: typeof first) => ({
      endpoints: [emulator.endpoints(), emulator.endpoints("other")],
      apiKey: emulator.apiKey,
      secrets: [emulator.secrets("production"), emulator.secrets("development")],
    });
    const before = state(first);
    await first.close();

    const second = await started({ dataFile, accounts });
    expect(state(second)).toEqual(before);
    expect(before.secrets.map(({ length }) => length)).toEqual([2, 1]);
    expect((await call(second, `GET /webhooks/${kept.id}`)).status).toBe(200);
    const [secret = ""] = (await started()).secrets();
    const third = await started({ dataFile, apiKey: "given", secrets: secret });
    expect([third.apiKey, third.secrets()]).toEqual(["given", [secret]]);
  });

  test("a registration is in the data file before its response, and no reader sees a partial write", async () => {
    const dataFile = await path();
    const emulator = await started({ dataFile });
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const body = { ...HOOK, url: `https://example.com/${n}` };
        const { id } = (await (await call(emulator, "POST /webhooks", { body })).json()) as { id: string };
        expect(JSON.stringify(JSON.parse(await readFile(dataFile, "utf8")))).toContain(id);
      }),
    );
    expect(JSON.parse(await readFile(dataFile, "utf8"))).toEqual({
      version: 1,
      apiKey: emulator.apiKey,
      secrets: { production: emulator.secrets(), development: emulator.secrets() },
      endpoints: JSON.parse(JSON.stringify(emulator.endpoints())),
    });
    expect(await readdir(join(dataFile, ".."))).toEqual(["emulator.json"]);
  });

  // File modes mean nothing on Windows.
  const testModes = process.platform === "win32" ? test.skip : test;
  testModes(
    "only its owner can read the data file, whatever the mode of the file that it replaces",
    async () => {
      const dataFile = await path();
      await writeFile(dataFile, '{"version":1,"endpoints":[],"secrets":{}}', { mode: 0o644 });
      await started({ dataFile });
      expect((await stat(dataFile)).mode & 0o777).toBe(0o600);
    },
  );

  test.each([
    ["not JSON", "{"],
    ["of another version", '{"version":2,"endpoints":[],"secrets":{}}'],
    ["another program's", '{"version":1,"dependencies":{}}'],
    ["in a folder that does not exist", undefined],
  ])("a data file that is %s stops the start, is not changed, and is named", async (_, text) => {
    const dataFile = text === undefined ? join(await path(), "emulator.json") : await path();
    if (text !== undefined) await writeFile(dataFile, text);
    const message = expect.stringContaining(text === undefined ? `${dataFile} (ENOENT)` : dataFile);
    await expect(startEmulator({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE", message });
    expect(await readFile(dataFile, "utf8").catch(() => undefined)).toBe(text);
  });

  test("if the data file becomes unwritable, it warns, changes get 500, and what only reads works", async () => {
    const dataFile = await path();
    const warn = jest.fn();
    const emulator = await started({ dataFile, warn });
    await rm(join(dataFile, ".."), { recursive: true });
    expect((await call(emulator, "POST /webhooks", { body: HOOK })).status).toBe(500);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Cannot write the emulator's data file/)]]);
    expect((await call(emulator, "GET /webhooks")).status).toBe(200);
  });
});
