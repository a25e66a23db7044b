import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmulator } from "../../src/emulator";
import { call, folder, HOOK, started } from "./support";

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

  test("a registration is in the data file before it is answered, and the API key is not", async () => {
    const dataFile = join(await folder(), "endpoints.json");
    const emulator = await started({ dataFile, apiKey: "a-key-to-look-for" });
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const body = { ...HOOK, url: `https://example.com/${n}` };
        const { id } = (await (await call(emulator, "POST /webhooks", { body })).json()) as { id: string };
        expect(await readFile(dataFile, "utf8")).toContain(id);
      }),
    );
    const text = await readFile(dataFile, "utf8");
    expect(JSON.parse(text)).toEqual({ version: 1, accounts: { default: emulator.endpoints() } });
    expect(text).not.toContain("a-key-to-look-for");
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
  ])("a data file that is %s stops the start and is not changed", async (_, text) => {
    const dataFile = join(await folder(), "endpoints.json");
    await writeFile(dataFile, text);
    await expect(startEmulator({ dataFile })).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
    expect(await readFile(dataFile, "utf8")).toBe(text);
  });

  test("if the data file becomes unwritable, requests get 500 and close() throws", async () => {
    const path = await folder();
    const blocked = await startEmulator({ dataFile: join(path, "later", "endpoints.json") });
    await writeFile(join(path, "later"), "a file where a folder should be");
    expect((await call(blocked, "POST /webhooks", { body: HOOK })).status).toBe(500);
    await expect(blocked.close()).rejects.toMatchObject({ code: "EMULATOR_DATA_FILE" });
  });
});
