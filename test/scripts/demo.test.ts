import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(__dirname, "../..");

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "demo-test-"));
});
afterEach(() => rmSync(temporary, { recursive: true, force: true }));

it("shows the main job from beginning to end, and leaves nothing behind", async () => {
  const before = changes();
  const { output, exitCode } = await end(start());
  expect(output).toMatch(/✓ verified: job\.running .*job\.succeeded/);
  expect(output).toMatch(/✓ tampered: refused/);
  expect(output).toMatch(/✓ replayed ten minutes later: refused/);
  expect(output).toMatch(/✓ the service has no endpoint left/);
  expect(output).not.toMatch(/whsec_|emulator-api-key/);
  expect(exitCode).toBe(0);
  expect(readdirSync(temporary).filter(isOurs)).toEqual([]);
  expect(changes()).toBe(before);
}, 170_000);

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "is ended by %s in the middle of an up, and leaves nothing behind",
  async (signal, status) => {
    const child = start();
    const ended = end(child);
    let running: number[] = [];
    child.stdout?.on("data", (text: string) => {
      if (!text.includes("Updating")) return;
      running = descendants(child.pid ?? 0);
      child.kill(signal);
    });
    const { exitCode, output } = await ended;
    expect(output).toMatch(/Stopping/);
    expect(exitCode).toBe(status);
    expect(running).not.toEqual([]);
    expect(running.filter(isAlive)).toEqual([]);
    expect(readdirSync(temporary).filter(isOurs)).toEqual([]);
  },
  60_000,
);

/** In a temporary folder of its own, so that what it leaves can be told from what others do. */
function start(): ChildProcess {
  const child = spawn(process.execPath, ["scripts/demo.js"], {
    cwd: root,
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

/** What a process has started, directly or not. */
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

function changes(): string {
  return execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
}
