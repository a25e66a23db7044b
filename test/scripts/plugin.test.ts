import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schema } from "../../src/plugin/schema";

const folder = mkdtempSync(join(tmpdir(), "release-"));
const unpacked = join(folder, "unpacked");
const executable = join(unpacked, "pulumi-resource-webhooks");
beforeAll(() => {
  execFileSync(process.execPath, [join(__dirname, "../../scripts/plugin.js"), folder]);
  mkdirSync(unpacked);
  const archive = join(folder, `pulumi-resource-webhooks-v${schema.version}-linux-amd64.tar.gz`);
  execFileSync("tar", ["-xzf", archive, "-C", unpacked]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the plugin as the CLI does, where PATH has only what this folder has. */
function start(path: string) {
  const { status, stdout, stderr } = spawnSync(executable, { env: { PATH: path }, encoding: "utf8" });
  return { status, printed: `${stdout}${stderr}` };
}

test("a release has the plugin's archive for each platform, as the CLI names it, and its schema", () => {
  const platforms = "linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64 windows-arm64".split(
    " ",
  );
  const archives = platforms.map((each) => `pulumi-resource-webhooks-v${schema.version}-${each}.tar.gz`);
  const files = readdirSync(folder).filter((name) => name !== "unpacked");
  expect(files.sort()).toEqual([...archives, "schema.json"].sort());
  expect(JSON.parse(readFileSync(join(folder, "schema.json"), "utf8"))).toEqual(schema);
});

test("without Node, the plugin prints one sentence that says what it needs", () => {
  const { status, printed } = start(folder);
  expect(status).toBe(1);
  expect(printed).toBe(
    "pulumi-resource-webhooks needs Node 20.18.1 or later: install it from https://nodejs.org\n",
  );
});

test.each(["12.22.9", "18.20.8", "20.9.0"])(
  "with Node %s, the plugin says that it needs a later one",
  (version) => {
    const bin = join(folder, "unpacked", version);
    mkdirSync(bin);
    writeFileSync(
      join(bin, "older.js"),
      `Object.defineProperty(process, "versions", { value: { node: "${version}" } });`,
    );
    writeFileSync(join(bin, "node"), `#!/bin/sh\nexec '${process.execPath}' -r '${bin}/older.js' "$@"\n`, {
      mode: 0o755,
    });
    const { status, printed } = start(bin);
    expect(status).toBe(1);
    expect(printed).toMatch(/^pulumi-resource-webhooks needs Node 20\.18\.1 or later: [^\n]*\n$/);
    expect(printed).toContain(`This is Node ${version}.`);
  },
);

test("the plugin's starter needs no syntax that Node 12 lacks", () => {
  const esbuild: typeof import("esbuild") = require("esbuild");
  const starter = readFileSync(join(unpacked, "start.js"), "utf8");
  const { code } = esbuild.transformSync(starter, { target: "node12" });
  expect(code).toBe(esbuild.transformSync(starter, { target: "esnext" }).code);
});
