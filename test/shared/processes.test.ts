import { spawn } from "node:child_process";
import { once } from "node:events";
import { isAlive, isThisProcess, type ProcessName, thisProcess } from "../../src/shared/processes";

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

test.each([
  [0, true],
  [14 * 60_000, true],
  [16 * 60_000, false],
])("a process of another host that gave a sign %d ms ago counts as alive: %s", (ago, alive) => {
  expect(isAlive({ host: "another", pid: process.pid, start: "" }, Date.now() - ago)).toBe(alive);
});
