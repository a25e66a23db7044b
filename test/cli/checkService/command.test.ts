import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { type Emulator, startEmulator } from "../../../src/emulator";
import { API_KEY, cleanUp, MAIN, makeFolder, run, stackFolder, start } from "../commandLine";

const ARGUMENTS = ["check-service", "--url", "https://hooks.example.com/check"];

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ apiKey: API_KEY, latencyMs: 20 });
});
afterEach(async () => {
  await cleanUp();
  await emulator.close();
});

function environment(apiKey = API_KEY) {
  const { cwd, env } = stackFolder({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": apiKey },
  });
  return { cwd, env: { ...env, PULUMI_HOME: makeFolder({}) } };
}
const registrations = () => emulator.requests.filter(({ method }) => method === "POST").length;

test("check-service --yes --json prints one value, and exits with 0 if no clause differs", async () => {
  const { status, stdout, stderr } = await run([...ARGUMENTS, "--yes", "--json"], environment());
  const { baseUrl, clauses } = JSON.parse(stdout);
  expect([status, baseUrl]).toEqual([0, emulator.url]);
  expect(clauses[0]).toEqual({
    clause: "date",
    verdict: "meets",
    cameBack: expect.any(String),
    service: "Every response has a `Date` header.",
    otherwise: expect.any(String),
  });
  expect(emulator.endpoints()).toEqual([]);
  expect(stderr).toMatch(/up to three development endpoints/);
  expect(stderr).not.toContain("Go on?");
});

test("check-service exits with 1 if a clause differs, and says what follows", async () => {
  emulator.fault({ operation: "get", kind: "status", status: 500 });
  const { status, stdout } = await run([...ARGUMENTS, "--yes"], environment());
  expect(status).toBe(1);
  expect(stdout).toMatch(/^differs {6}get: GET \/webhooks\/wh_\w+: 500, then 200$/m);
  expect(stdout).toMatch(/^ +This package: Can't check/m);
  expect(stdout).toMatch(/13 clauses met, 1 not met, 1 undecided/);
});

test("check-service fails with one line when its output cannot be written", async () => {
  const { cwd, env } = environment();
  const args = [process.execPath, MAIN, ...ARGUMENTS, "--yes", "--json"];
  const child = spawn("/bin/sh", ["-c", '"$0" "$@" > /dev/full', ...args], { cwd, env, stdio: "pipe" });
  const [[status], stderr] = await Promise.all([once(child, "close"), text(child.stderr)]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^error: [^\n]*ENOSPC[^\n]*\(UNEXPECTED\)$/m);
  expect(emulator.endpoints()).toEqual([]);
});

test("check-service registers nothing without a terminal and without --yes", async () => {
  const { status, stderr } = await run(ARGUMENTS, environment());
  expect(status).toBe(1);
  expect(stderr).toMatch(/Add --yes.*\(WRONG_USE\)/);
  expect(registrations()).toBe(0);
});

test("check-service reports a service that refuses the key as an error", async () => {
  const refused = await run([...ARGUMENTS, "--yes"], environment("another-key-0123"));
  expect(refused.stderr).toMatch(/\(UNAUTHORIZED\)$/m);
  expect(registrations()).toBe(0);
});

test.each([1, 2, 3])("Ctrl-C after %i registrations deletes what was registered", async (count) => {
  const started = start([...ARGUMENTS, "--yes"], environment());
  await started.untilTrue(() => registrations() >= count);
  const { status, stderr } = await started.signal("SIGINT");
  expect(status).toBe(130);
  expect(stderr).toMatch(/The endpoints are deleted first[\s\S]*\(INTERRUPTED\)/);
  expect(emulator.endpoints()).toEqual([]);
});

test.each([1, 2, 3])(
  "what a check that was killed after %i registrations left, the next deletes",
  async (count) => {
    const settings = environment();
    const started = start([...ARGUMENTS, "--yes"], settings);
    await started.untilTrue(() => registrations() >= count);
    await started.signal("SIGKILL");
    const { status, stderr } = await run([...ARGUMENTS, "--yes"], settings);
    expect(stderr).toContain("It also deletes what an interrupted check has left: wh_");
    expect(status).toBe(0);
    expect(emulator.endpoints()).toEqual([]);
  },
);
