import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmulator } from "../../src/emulator";
import { thisProcess } from "../../src/shared/processes";
import { call, folder, HOOK, started } from "./support";

/** Nobody can create a folder here, not even root. Node's recursive mkdir loops forever when it tries. */
const UNWRITABLE = "/proc/nowhere/endpoints.json";

describe("a data file", () => {
  test("a data file restores the endpoints of every account after a restart", async () => {
    const dataFile = join(await folder(), "new", "endpoints.json");
    const accounts = { b: "other" };
    const first = await started({ dataFile, accounts });
    const [gone, kept] = [first.add(HOOK), first.add({ ...HOOK, ip: "192.0.2.1" })];
    await call(first, "POST /webhooks", { body: HOOK, key: "b" });
    first.edit(kept.id, { type: "development" });
    await call(first, `DELETE /webhooks/${gone.id}`);
    const before = first.endpoints();
    await first.close();

    const second = await started({ dataFile, accounts });
    expect(second.endpoints()).toEqual(before);
    expect(second.endpoints("other")).toHaveLength(1);
    expect((await call(second, `GET /webhooks/${kept.id}`)).status).toBe(200);
  });

  test("a pipe is no data file: nobody may ever write it", async () => {
    const dataFile = join(await folder(), "pipe");
    execFileSync("mkfifo", [dataFile]);
    await expect(started({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
  });

  test("a registration is in the data file before it is answered", async () => {
    const dataFile = join(await folder(), "endpoints.json");
    const emulator = await started({ dataFile });
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const body = { ...HOOK, url: `https://example.com/${n}` };
        const { id } = (await (await call(emulator, "POST /webhooks", { body })).json()) as { id: string };
        expect(await readFile(dataFile, "utf8")).toContain(id);
      }),
    );
    expect(JSON.parse(await readFile(dataFile, "utf8"))).toEqual({
      version: 1,
      apiKey: emulator.apiKey,
      secrets: { production: emulator.secrets(), development: emulator.secrets() },
      accounts: { default: emulator.endpoints() },
    });
  });

  test("the API key and the signing secrets survive a restart, in the middle of a rotation too", async () => {
    const dataFile = join(await folder(), "endpoints.json");
    const first = await started({ dataFile });
    first.rotateKey(first.apiKey, "a-new-key");
    first.rotateSecret({ type: "production" });
    const before = [first.apiKey, first.secrets("production"), first.secrets("development")];
    await first.close();

    const second = await started({ dataFile });
    expect([second.apiKey, second.secrets("production"), second.secrets("development")]).toEqual(before);
    expect(before).toEqual(["a-new-key", [expect.any(String), expect.any(String)], [expect.any(String)]]);
    expect((await call(second, "GET /webhooks", { key: "a-new-key" })).status).toBe(200);
    await second.close();

    const [secret = ""] = (await started()).secrets();
    const third = await started({ dataFile, apiKey: "given", secrets: secret });
    expect([third.apiKey, third.secrets()]).toEqual(["given", [secret]]);
  });

  test("only its owner can read the data file, whatever the mode of the file that it replaces", async () => {
    const dataFile = join(await folder(), "endpoints.json");
    await writeFile(dataFile, '{"version":1,"accounts":{}}', { mode: 0o644 });
    await started({ dataFile });
    expect((await stat(dataFile)).mode & 0o777).toBe(0o600);
  });

  test("a file of the user's beside the data file stays as it is, whatever its name", async () => {
    const path = await folder();
    const dataFile = join(path, "endpoints.json");
    await writeFile(`${dataFile}.tmp`, "notes");
    const emulator = await started({ dataFile });
    emulator.add(HOOK);
    await emulator.close();
    expect(await readFile(`${dataFile}.tmp`, "utf8")).toBe("notes");
    expect(await readdir(path)).toEqual(["endpoints.json", "endpoints.json.tmp"]);
  });

  test("a reader of the data file never sees a partial write", async () => {
    const path = await folder();
    const dataFile = join(path, "endpoints.json");
    const emulator = await started({ dataFile });
    await call(emulator, "POST /webhooks", { body: HOOK });
    let busy = true;
    const writing = (async () => {
      for (let n = 0; n < 100; n += 1) await call(emulator, "POST /webhooks", { body: HOOK });
      busy = false;
    })();
    while (busy) JSON.parse(await readFile(dataFile, "utf8"));
    await writing;
    await emulator.close();
    expect(await readdir(path)).toEqual(["endpoints.json"]);
  });

  test.each([
    ["not JSON", "{"],
    ["of another version", '{"version":2,"accounts":{}}'],
    ["of another shape", '{"version":1,"accounts":{"default":[{"id":1}]}}'],
    ["without a signing secret", '{"version":1,"accounts":{},"secrets":{"production":[],"development":[]}}'],
    ["with a number as API key", '{"version":1,"accounts":{},"apiKey":1}'],
  ])("a data file that is %s stops the start and is not changed", async (_, text) => {
    const dataFile = join(await folder(), "endpoints.json");
    await writeFile(dataFile, text);
    await expect(startEmulator({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
    expect(await readFile(dataFile, "utf8")).toBe(text);
  });

  test("an unwritable data file stops the start", async () => {
    await expect(startEmulator({ dataFile: UNWRITABLE })).rejects.toMatchObject({
      code: "EMULATOR_DATA_FILE",
      message: expect.stringContaining(UNWRITABLE),
    });
  });

  test("if the data file becomes unwritable, it warns once, requests get 500 and close() throws", async () => {
    const data = join(await folder(), "data");
    const warn = jest.fn();
    const blocked = await startEmulator({ dataFile: join(data, "endpoints.json"), warn });
    await rm(data, { recursive: true });
    await writeFile(data, "a file where a folder should be");
    for (let times = 0; times < 2; times++)
      expect((await call(blocked, "POST /webhooks", { body: HOOK })).status).toBe(500);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^Cannot write the emulator's data file .*data/)],
    ]);
    await expect(blocked.close()).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
  });

  test("a symbolic link to a data file stays one, and its target keeps the data, also before it exists", async () => {
    const path = await folder();
    await mkdir(join(path, "kept"));
    const link = join(path, "emulator.json");
    await symlink("kept/emulator.json", link);
    for (let starts = 1; starts <= 2; starts += 1) {
      const emulator = await started({ dataFile: link });
      emulator.add(HOOK);
      await emulator.close();
      expect((await lstat(link)).isSymbolicLink()).toBe(true);
      expect(await readlink(link)).toBe("kept/emulator.json");
      expect(JSON.parse(await readFile(link, "utf8")).accounts.default).toHaveLength(starts);
    }
    expect(await readdir(join(path, "kept"))).toEqual(["emulator.json"]);
  });

  test("a data file that is a loop of symbolic links stops the start", async () => {
    const dataFile = join(await folder(), "loop.json");
    await symlink("loop.json", dataFile);
    await expect(startEmulator({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
  });
});

describe("the lock of a data file", () => {
  test("a second emulator on one data file is refused with the address of the first, also through a link", async () => {
    const path = await folder();
    const dataFile = join(path, "emulator.json");
    const first = await started({ dataFile });
    first.add(HOOK);
    await symlink("emulator.json", join(path, "link.json"));
    for (const name of ["emulator.json", "link.json"]) {
      await expect(started({ dataFile: join(path, name) })).rejects.toMatchObject({
        code: "EMULATOR_DATA_FILE_IN_USE",
        message: expect.stringContaining(first.url),
      });
    }
    await first.goOffline();
    await expect(started({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE_IN_USE" });
    await first.close();
    expect((await started({ dataFile })).endpoints()).toEqual(first.endpoints());
  });

  test("of emulators that start at the same time on one data file, one runs", async () => {
    const dataFile = join(await folder(), "emulator.json");
    const starts = await Promise.allSettled(Array.from({ length: 8 }, () => started({ dataFile })));
    expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("an emulator of another process holds its data file until it is gone, even if it was killed", async () => {
    const path = await folder();
    const dataFile = join(path, "emulator.json");
    const program = `
      const { startEmulator } = require(${JSON.stringify(join(__dirname, "../../src/emulator"))});
      startEmulator({ dataFile: ${JSON.stringify(dataFile)} }).then(({ url }) => console.log(url));
    `;
    const child = spawn(process.execPath, ["-r", "ts-node/register/transpile-only", "-e", program]);
    const gone = once(child, "exit");
    try {
      const [url] = (await once(child.stdout, "data")).map((chunk) => String(chunk).trim());
      await expect(started({ dataFile })).rejects.toMatchObject({
        code: "EMULATOR_DATA_FILE_IN_USE",
        message: expect.stringContaining(`${url} (process ${child.pid})`),
      });
    } finally {
      child.kill("SIGKILL");
      await gone;
    }
    expect(await readdir(path)).toEqual(["emulator.json", "emulator.json.lock"]);
    await (await started({ dataFile })).close();
    expect(await readdir(path)).toEqual(["emulator.json"]);
  });

  test.each(['{"my":"file"}', "notes", "[]", "7"])(
    "a file that is no lock, such as %s, stops the start and stays",
    async (content) => {
      const dataFile = join(await folder(), "emulator.json");
      await writeFile(`${dataFile}.lock`, content);
      await expect(startEmulator({ dataFile })).rejects.toMatchObject({
        code: "EMULATOR_DATA_FILE",
        message: expect.stringContaining(`${dataFile}.lock is not a lock of an emulator`),
      });
      expect(await readFile(`${dataFile}.lock`, "utf8")).toBe(content);
    },
  );

  test.each([
    ["cut off by a crash", "{"],
    ["empty after a crash", ""],
    ["of zeros after a crash", "\0".repeat(80)],
    ["cut off in its middle", `{"token":"6a1c9b2e-`],
    [
      "of a process that has a recycled number",
      JSON.stringify({ ...thisProcess(), pid: process.ppid, start: "1", url: "http://x" }),
    ],
    [
      "of another host, such as a container that was killed",
      JSON.stringify({ ...thisProcess(), host: "another", url: "http://x" }),
    ],
    ["of this process, which has no such emulator", JSON.stringify({ ...thisProcess(), url: "http://x" })],
  ])("a lock that is %s does not stop the start", async (_, content) => {
    const dataFile = join(await folder(), "emulator.json");
    await writeFile(`${dataFile}.lock`, content);
    await started({ dataFile });
  });

  test("an emulator that cannot start leaves no lock", async () => {
    const path = await folder();
    const dataFile = join(path, "emulator.json");
    await writeFile(dataFile, "{");
    await expect(startEmulator({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
    await rm(dataFile);
    const { url } = await started();
    const port = Number(new URL(url).port);
    await expect(startEmulator({ dataFile, port })).rejects.toMatchObject({ code: "EMULATOR_LISTEN" });
    expect(await readdir(path)).toEqual([]);
  });
});
