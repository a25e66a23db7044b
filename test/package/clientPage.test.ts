import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmulator } from "../../src/emulator";
import { makeFolder, removeFolders, typeErrors } from "../receiver/readme/app";
import { snippetsOf } from "../receiver/readme/snippets";
import { read } from "./pages";

afterAll(removeFolders);

test("the program on the page of the client type-checks, and registers, lists and deletes an endpoint", async () => {
  const [{ code } = { code: "" }] = snippetsOf(read("docs/client.md"));
  const packages = { "@types": "node_modules/@types" };
  expect(typeErrors({ files: { "app.ts": code }, packages })).toEqual([]);

  const emulator = await startEmulator();
  try {
    const folder = makeFolder({ files: { "app.mjs": code }, packages: {} });
    const env = { ...process.env, WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey };
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "app.mjs")], { env });
    expect(stdout).toBe("true true\nNOT_FOUND 404\n");
    expect(emulator.endpoints()).toEqual([]);
  } finally {
    await emulator.close();
  }
});
