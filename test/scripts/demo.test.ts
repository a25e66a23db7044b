import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LATER_MODULES } from "../engine/project";
import { isAlive, until } from "./project";

const root = join(__dirname, "../..");
/** The parts of a checkout that the demo uses, apart from node_modules. */
const PARTS = ["package.json", "dist", "examples/quickstart", "scripts"];

const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
const checkout = join(folder, "checkout");
/** The demo's own temporary folder, so that what it leaves there is its own. */
const temporary = join(folder, "tmp");
beforeAll(() => {
  for (const part of PARTS) cpSync(join(root, part), join(checkout, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  mkdirSync(temporary);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const claims = [
  /✓ verified and handled: job\.running/,
  /✓ a tampered one is refused/,
  /✓ the service has no/,
];
test.each([
  ["at its end", undefined, 0, claims],
  ["on SIGINT in the middle of an up", "SIGINT", 130, [/Stopping/]],
  ["on SIGTERM in the middle of an up", "SIGTERM", 143, [/Stopping/]],
] as const)(
  "the demo leaves no file and no process behind %s",
  async (_when, signal, status, said) => {
    const before = filesIn(checkout);
    const child = spawn(process.execPath, ["scripts/demo.js"], {
      cwd: checkout,
      env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: LATER_MODULES, GOGC: "off" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    let running: number[] | undefined;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        if (running !== undefined || !printed.includes("Updating")) return;
        running = descendants(child.pid ?? 0);
        if (signal !== undefined) child.kill(signal);
      });
    const exitCode = await new Promise((resolve) => child.once("close", resolve));
    for (const claim of said) expect(printed).toMatch(claim);
    expect(printed).not.toMatch(/whsec_|emulator-api-key/);
    expect(exitCode).toBe(status);
    expect(running?.length).toBeGreaterThan(0);
    // One that was killed takes a moment to end.
    await until(() => running?.some(isAlive) === false);
    expect(readdirSync(temporary).filter((name) => name.startsWith("webhooks-demo-"))).toEqual([]);
    expect(filesIn(checkout)).toEqual(before);
  },
  300_000,
);

/** Returns the processes that a process has started, directly or indirectly. */
function descendants(ancestor: number): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const processes = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const found = [ancestor];
  for (const parent of found) for (const [pid = 0, of] of processes) if (of === parent) found.push(pid);
  return found.slice(1);
}

/** Lists the files of a folder with their sizes, without node_modules. */
function filesIn(place: string): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file}: ${statSync(file).size} bytes`)
    .sort();
}
