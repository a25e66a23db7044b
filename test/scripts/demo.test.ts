import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(__dirname, "../..");
/** The parts of a checkout that the demo uses, apart from node_modules. */
const PARTS = ["package.json", "dist", "examples/quickstart", "scripts"];

let checkout: string;
let temporary: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  checkout = join(folder, "checkout");
  temporary = join(folder, "tmp");
  for (const part of PARTS) cpSync(join(root, part), join(checkout, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  mkdirSync(temporary);
});
afterEach(() => rmSync(join(checkout, ".."), { recursive: true, force: true }));

test("the demo tells the whole story and leaves nothing behind", async () => {
  const before = filesIn(checkout);
  const { output, exitCode } = await end(start());
  expect(output).toMatch(/✓ verified and handled: job\.running .*job\.succeeded/);
  expect(output).toMatch(/✓ a tampered one is refused/);
  expect(output).toMatch(/✓ one that is ten minutes old is refused/);
  expect(output).toMatch(/✓ the service has no endpoints left/);
  expect(output).not.toMatch(/whsec_|emulator-api-key/);
  expect(exitCode).toBe(0);
  expect(readdirSync(temporary).filter(isOurs)).toEqual([]);
  expect(filesIn(checkout)).toEqual(before);
}, 300_000);

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "the demo ends on %s in the middle of an up, and leaves nothing behind",
  async (signal, status) => {
    const before = filesIn(checkout);
    const child = start();
    const ended = end(child);
    let printed = "";
    let running: number[] | undefined;
    child.stdout?.on("data", (text: string) => {
      printed += text;
      if (running !== undefined || !printed.includes("Updating")) return;
      running = descendants(child.pid ?? 0);
      child.kill(signal);
    });
    const { exitCode, output } = await ended;
    expect(output).toMatch(/Stopping/);
    expect(exitCode).toBe(status);
    expect(running?.length).toBeGreaterThan(0);
    expect(running?.filter(isAlive)).toEqual([]);
    expect(readdirSync(temporary).filter(isOurs)).toEqual([]);
    expect(filesIn(checkout)).toEqual(before);
  },
  300_000,
);

/** Starts the demo of the copied checkout with its own temporary folder, so that what it leaves in either is its own. */
function start(): ChildProcess {
  const child = spawn(process.execPath, ["scripts/demo.js"], {
    cwd: checkout,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.setEncoding("utf8");
  child.stderr.setEncoding("utf8");
  return child;
}

function end(child: ChildProcess): Promise<{ exitCode: number | null; output: string }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text: string) => {
      output += text;
    });
  return new Promise((resolve) => child.once("close", (exitCode) => resolve({ exitCode, output })));
}

const isOurs = (name: string) => name.startsWith("webhooks-demo-");

/** Returns the processes that a process has started, directly or indirectly. */
function descendants(ancestor: number): number[] {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = [ancestor];
  for (const parent of found) for (const [pid = 0, of] of processes) if (of === parent) found.push(pid);
  return found.slice(1);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Lists the files of a folder with their sizes, without node_modules. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file}: ${statSync(file).size} bytes`)
    .sort();
}
