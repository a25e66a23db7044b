import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  isAlive,
  isAtWork,
  isThisProcess,
  type ProcessName,
  startOfParent,
  thisProcess,
} from "../../src/shared/processes";

const now = Date.now();

test("this process is alive, and is itself", () => {
  expect(isThisProcess(thisProcess())).toBe(true);
  expect(isAlive(thisProcess(), 0)).toBe(true);
});

test("the start of a process tells it from an earlier one with its number", () => {
  const earlier = { ...thisProcess(), start: "earlier" };
  expect(isThisProcess(earlier)).toBe(false);
  expect(isAlive(earlier, now)).toBe(false);
});

test("a process without a known start is alive while its number is", () => {
  expect(isAlive({ ...thisProcess(), start: "" }, now)).toBe(true);
});

test("a process is dead as soon as it was killed, also before its parent has noticed", async () => {
  const child = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => {}, 1e6)"]);
  await once(child.stdout, "data");
  const name: ProcessName = { ...thisProcess(), pid: child.pid ?? 0, start: "" };
  expect(isAlive(name, now)).toBe(true);
  child.kill("SIGKILL");
  const deadline = performance.now() + 5_000;
  while (isAlive(name, now) && performance.now() < deadline);
  expect(isAlive(name, now)).toBe(false);
  await once(child, "exit");
});

test("a process is at work only while its engine is alive, which it may outlive", async () => {
  const engine = spawn(process.execPath, ["-e", "console.log(1); setInterval(() => {}, 1e6)"]);
  await once(engine.stdout, "data");
  const name: ProcessName = { ...thisProcess(), engine: { pid: engine.pid ?? 0, start: "" } };
  expect(isAtWork(name, now)).toBe(true);
  engine.kill("SIGKILL");
  await once(engine, "exit");
  expect([isAlive(name, now), isAtWork(name, now)]).toEqual([true, false]);
  expect(isAtWork(thisProcess(), now)).toBe(true);
});

test.each([
  [0, true],
  [14 * 60_000, true],
  [16 * 60_000, false],
])("a process of another host that gave a sign %d ms ago counts as alive: %s", (ago, alive) => {
  expect(isAlive({ host: "another", pid: process.pid, start: "" }, Date.now() - ago)).toBe(alive);
});

/** Returns when a parent of this process that runs `sleep` was started, as `startOfParent` says. */
async function startOfSleep(program: string): Promise<number | undefined> {
  const parent = spawn(program, ["60"]);
  await once(parent, "spawn");
  const { ppid } = process;
  Object.defineProperty(process, "ppid", { value: parent.pid });
  const startedAt = startOfParent("sleep");
  Object.defineProperty(process, "ppid", { value: ppid });
  parent.kill("SIGKILL");
  await once(parent, "exit");
  return startedAt;
}

test("the start of a parent is known to a fraction of a second: a state that was written before is not taken for one that is written now", async () => {
  const before = Date.now();
  const startedAt = await startOfSleep("sleep");
  // The system counts in hundredths.
  expect(startedAt).toBeGreaterThan(before - 50);
  expect(startedAt).toBeLessThan(Date.now() + 50);
});

test("the start of a parent is known that a wrapper starts under the name that Nix gives it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-wrapped-"));
  const program = join(folder, ".sleep-wrapped");
  copyFileSync("/bin/sleep", program);
  const startedAt = await startOfSleep(program);
  rmSync(folder, { recursive: true });
  expect(startedAt).toBeGreaterThan(Date.now() - 60_000);
});
