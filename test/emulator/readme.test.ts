import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { emulator } from "../../src/cli/commands/emulator";
import { FAULT_KINDS } from "../../src/emulator";
import { makeFolder, removeFolders, typeErrors } from "../receiver/readme/app";
import { snippetsOf } from "../receiver/readme/snippets";

afterAll(removeFolders);

const read = (path: string) => readFileSync(resolve(__dirname, "../..", path), "utf8");
const GUIDE = "docs/emulator.md";

test("the emulator program of the guide compiles and runs", async () => {
  const [snippet] = snippetsOf(read(GUIDE), "In your own tests");
  const code = snippet?.code ?? "";
  const packages = { "@types": "node_modules/@types" };
  expect(typeErrors({ files: { "app.ts": code }, packages })).toEqual([]);

  const folder = makeFolder({ files: { "app.mjs": code }, packages: {} });
  const { env } = process;
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "app.mjs")], { env });
  expect(stdout).toBe("false 2\ntrue 0\n");
});

/** The first cells of the table below a heading. */
const rowsBelow = (heading: string) =>
  [
    ...((read(GUIDE).split(`## ${heading}\n`)[1] ?? "").split("\n## ")[0]?.matchAll(/^\| `([^`]+)`/gm) ?? []),
  ].map(([, cell]) => cell ?? "");

test("the guide lists exactly the options of the command and the kinds of faults", () => {
  const documented = rowsBelow("Start it").filter((cell) => cell.startsWith("--"));
  expect(documented).toEqual(emulator.options.map(({ flags }) => flags.replace("-p, ", "")));
  expect(rowsBelow("Faults")).toEqual(FAULT_KINDS);
});
