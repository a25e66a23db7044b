import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/client/clock";
import { Locks } from "../../src/settlement/lock";
import { thisProcess } from "../../src/shared/processes";

const dist = join(__dirname, "../../dist");

let home: string;
let children: ChildProcess[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "webhooks-lock-"));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

const claims = () => readdirSync(join(home, "webhook-endpoints", "locks"));
const take = ({
  key = "k",
  signal,
  onWait = () => {},
}: {
  key?: string;
  signal?: AbortSignal;
  onWait?: () => void;
} = {}) => new Locks(home).take(key, { clock: systemClock, signal, onWait });

/** A process that runs code with `take`, which takes the lock "k", and `say`. */
function child(code: string): ChildProcess {
  const script = `
    const { Locks } = require(${JSON.stringify(join(dist, "settlement/lock.js"))});
    const { systemClock } = require(${JSON.stringify(join(dist, "client/clock.js"))});
    const locks = new Locks(${JSON.stringify(home)});
    const take = () => locks.take("k", { clock: systemClock, signal: undefined, onWait: () => {} });
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const say = (line) => require("node:fs").writeSync(1, line + "\\n");
    (async () => { ${code} })();`;
  const started = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(started);
  return started;
}

test("several processes never hold one lock at once, and each gets its turn", async () => {
  const log = join(home, "log");
  appendFileSync(log, "");
  const work = `
    const { appendFileSync } = require("node:fs");
    for (let turn = 0; turn < 8; turn++) {
      const release = await take();
      appendFileSync(${JSON.stringify(log)}, "in " + process.pid + "\\n");
      await pause(Math.random() * 5);
      appendFileSync(${JSON.stringify(log)}, "out " + process.pid + "\\n");
      release();
    }`;
  await Promise.all(Array.from({ length: 4 }, () => once(child(work), "exit")));
  const lines = readFileSync(log, "utf8").trim().split("\n");
  expect(lines).toHaveLength(4 * 8 * 2);
  for (let at = 0; at < lines.length; at += 2) {
    expect(lines[at]).toMatch(/^in /);
    expect(lines[at + 1]).toBe(lines[at]?.replace("in", "out"));
  }
  expect(claims()).toEqual([]);
});

test("two that ask in one process take turns, too", async () => {
  const release = await take();
  let isTaken = false;
  const second = take().then((given) => {
    isTaken = true;
    return given;
  });
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(isTaken).toBe(false);
  if (release !== "aborted") release();
  const given = await second;
  if (given !== "aborted") given();
  expect(claims()).toEqual([]);
});

test("what a killed process held is taken over at once", async () => {
  const holder = child(`await take(); say("held"); await pause(60_000);`);
  if (holder.stdout) await once(holder.stdout, "data");
  let waits = 0;
  const signal = AbortSignal.timeout(300);
  expect(await take({ signal, onWait: () => (waits += 1) })).toBe("aborted");
  expect(waits).toBe(1);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  const startedAt = performance.now();
  const release = await take({ onWait: () => (waits += 1) });
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(waits).toBe(1);
  expect(claims()).toHaveLength(1);
  if (release !== "aborted") release();
});

/** Takes a lock that nothing may keep, without a wait. */
async function takeAtOnce(key = "k"): Promise<void> {
  const onWait = jest.fn();
  expect(await take({ key, signal: AbortSignal.timeout(30_000), onWait })).not.toBe("aborted");
  expect(onWait).not.toHaveBeenCalled();
}

/** A claim of a process that may or may not live. */
function claimOf(owner: object): void {
  mkdirSync(join(home, "webhook-endpoints", "locks"), { recursive: true });
  writeFileSync(join(home, "webhook-endpoints", "locks", "k.another"), JSON.stringify(owner));
}

test("a number that was given to another process since does not keep a lock", async () => {
  claimOf({ ...thisProcess(), start: "another start" });
  await takeAtOnce();
});

test("a living process of this machine keeps a lock", async () => {
  const { start } = thisProcess();
  const holder = child(`say("up"); await pause(60_000);`);
  if (holder.stdout) await once(holder.stdout, "data");
  // Nothing tells when it started.
  claimOf({ ...thisProcess(), pid: holder.pid, start: "" });
  expect(start).not.toBe("");
  expect(await take({ signal: AbortSignal.timeout(300) })).toBe("aborted");
});

test.each(["", "{", "null", '"x"', "{}"])("a claim that holds %j keeps no lock", async (text) => {
  claimOf({});
  writeFileSync(join(home, "webhook-endpoints", "locks", "k.another"), text);
  await takeAtOnce();
});

test("a lock of another url and type does not wait", async () => {
  await take({ key: "k" });
  await takeAtOnce("k2");
});

test("a wait that is aborted ends at once, and leaves no claim", async () => {
  await take();
  const cancelling = new AbortController();
  const waiting = take({ signal: cancelling.signal });
  await new Promise((resolve) => setTimeout(resolve, 50));
  cancelling.abort();
  expect(await waiting).toBe("aborted");
  expect(claims()).toHaveLength(1);
});

test.each<[string, () => void]>([
  ["a folder that cannot be made", () => writeFileSync(join(home, "webhook-endpoints"), "")],
  ["a folder that was removed", () => rmSync(home, { recursive: true })],
])("%s is an error, and not a wait", async (_, spoil) => {
  spoil();
  await expect(take()).rejects.toThrow();
});

test("claims are private to the user", async () => {
  await take();
  chmodSync(home, 0o755);
  const folder = join(home, "webhook-endpoints", "locks");
  const { statSync } = jest.requireActual<typeof import("node:fs")>("node:fs");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, claims()[0] ?? "")).mode & 0o777).toBe(0o600);
});
