import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { launcher } from "../../src/shared/pulumiCommand";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "a launcher-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** As npm's cmd-shim writes it. */
const commandFile = (script: string) =>
  `@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\n` +
  `IF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n` +
  `  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & ` +
  `"%_prog%"  "%dp0%\\${script}" %*\r\n`;

/** As pnpm writes it. */
const commandFileOfPnpm = (script: string) =>
  `@IF EXIST "%~dp0\\node.exe" (\r\n  "%~dp0\\node.exe"  "%~dp0\\${script}" %*\r\n) ELSE (\r\n  node  "%~dp0\\${script}" %*\r\n)\r\n`;

/** Arguments that a shell would change, the empty one among them. */
const ODD = `dev,a b,quo"te,50%,%PATH%,a&calc,a|b>c,^x^,(y),!z!,back\\,ende\\\\,,it's,é`.split(",");

test.each([
  ["npm, globally", "npm", commandFile, "node_modules\\pulumi\\run.js", "npm/node_modules/pulumi/run.js"],
  ["npm, in a project", "node_modules/.bin", commandFile, "..\\pulumi\\run.js", "node_modules/pulumi/run.js"],
  ["pnpm", "node_modules/.bin", commandFileOfPnpm, "..\\pulumi\\run.js", "node_modules/pulumi/run.js"],
])(
  "on Windows, the pulumi.cmd of %s is run without a shell, with each argument as it is",
  (_by, folder, text, from, script) => {
    write(script, "console.log(JSON.stringify(process.argv.slice(2)))");
    write(`${folder}/pulumi.cmd`, text(from));
    const [program, ...first] = launcher({ Path: `C:\\Windows;${join(root, folder)}` }, "win32");
    const printed = execFileSync(program, [...first, ...ODD], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual(ODD);
  },
);

test("the first pulumi on PATH counts, and a command file that is not understood is never run", () => {
  write("exe/pulumi.exe", "");
  write("cmd/pulumi.cmd", commandFile("run.js"));
  write("odd/pulumi.cmd", "@echo off\r\ncall other.exe %*\r\n");
  const started = (...folders: string[]) =>
    launcher({ PATH: folders.map((folder) => join(root, folder)).join(";") }, "win32");
  const byScript = [process.execPath, join(root, "cmd/run.js")];
  expect([
    started("exe", "cmd"),
    started("cmd", "exe"),
    started("odd", "cmd"),
    started("odd"),
    launcher({}, "win32"),
  ]).toEqual([["pulumi"], byScript, byScript, ["pulumi"], ["pulumi"]]);
  expect(launcher({ PATH: `${join(root, "cmd")};` }, "linux")).toEqual(["pulumi"]);
});
