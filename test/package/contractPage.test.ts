import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseEndpoint } from "../../src/client/parse";
import { startEmulator } from "../../src/emulator";
import { sign, verify } from "../../src/signature";
import { makeFolder, removeFolders, typeErrors } from "../receiver/readme/app";
import { snippetsOf } from "../receiver/readme/snippets";
import { read } from "./pages";

const page = read("docs/service-contract.md");

afterAll(removeFolders);

test("the known answer on the page of the contract is what sign returns and verify accepts", () => {
  const row = (name: string) => new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, "m").exec(page)?.[1] ?? "";
  const message = {
    id: row("id"),
    timestamp: Number(row("timestamp")),
    body: row("body"),
    secret: row("secret"),
  };
  const headers = sign(message);
  expect(headers["webhook-signature"]).toBe(row("signature"));
  expect(verify(message.body, headers, message.secret, 0)).toBe(true);
});

test("the endpoint on the page of the contract is one that the client understands", () => {
  const shown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "");
  expect(parseEndpoint(shown)).toEqual(shown);
});

test("the program of the client type-checks, and registers, lists and deletes an endpoint", async () => {
  const [{ code } = { code: "" }] = snippetsOf(page, "The client");
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
