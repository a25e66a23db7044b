import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { makeFolder, removeFolders, typeErrors } from "../receiver/readme/app";
import { snippetsOf } from "../receiver/readme/snippets";

afterAll(removeFolders);

test("the README's emulator program compiles and runs", async () => {
  const readme = readFileSync(resolve(__dirname, "../../README.md"), "utf8");
  const [snippet] = snippetsOf(readme, "Testing without the service");
  const code = snippet?.code ?? "";
  const packages = { "@types": "node_modules/@types" };
  expect(typeErrors({ files: { "app.ts": code }, packages })).toEqual([]);

  const folder = makeFolder({ files: { "app.mjs": code }, packages: {} });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "app.mjs")]);
  expect(stdout).toBe("[] [] false\n");
});
