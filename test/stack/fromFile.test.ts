import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ConfiguredReceiverOptions, receiverFromFile } from "../../src/stack";
import { clock, delivered } from "../receiver/support";
import { MountedSecret } from "./mountedSecret";
import { configText, leaked, newSecret } from "./support";

const [first, second] = [newSecret(), newSecret()];
let mounted: MountedSecret;

beforeEach(() => {
  mounted = new MountedSecret(configText(first));
});
afterEach(() => mounted.unmount());

/** Creates a receiver from the file, with a clock that stands still. */
function receiving(options: Partial<ConfiguredReceiverOptions> = {}, path = mounted.path) {
  const time = clock();
  const errors: unknown[] = [];
  const receiver = receiverFromFile(
    { path },
    { handlers: {}, now: time.now, onSecretsError: (error) => errors.push(error), ...options },
  );
  const status = async (secret: string, sentAgoMs = 0) =>
    (await receiver.handle(delivered({ secret, at: time.now() - sentAgoMs }))).status;
  return { status, errors, pass: time.pass };
}

test("a new version of the file takes effect without a restart, and a removed secret is refused a minute later", async () => {
  const { status, pass, errors } = receiving();
  expect([await status(first), await status(second)]).toEqual([200, 401]);
  mounted.update(configText(first, second));
  pass(5_000);
  expect([await status(second), await status(first)]).toEqual([200, 200]);
  mounted.update(configText(second));
  pass(60_000);
  expect([await status(first), await status(second)]).toEqual([401, 200]);
  expect(errors).toEqual([]);
});

test("a version that cannot be used leaves the previous one in use, and is reported without a secret", async () => {
  const { status, pass, errors } = receiving();
  expect(await status(first)).toBe(200);
  const broken = [configText(second, "[secret]"), configText(second).slice(0, -7), `${second}\n`];
  for (const text of broken) {
    mounted.update(text);
    pass(60_000);
    expect([await status(first), await status(second)]).toEqual([200, 401]);
  }
  mounted.unmount();
  pass(60_000);
  expect(await status(first)).toBe(200);
  while (errors.length === broken.length) await new Promise(setImmediate);
  expect(errors).toMatchObject([
    ...broken.map(() => ({ code: "CONFIG_INVALID" })),
    { code: "CONFIG_MISSING" },
  ]);
  for (const error of errors) expect(String(error)).toContain(mounted.path);
  expect(leaked(errors, [first, second])).toEqual([]);
});

test("a file that breaks between the start and the first delivery leaves the secrets of the start in use", async () => {
  const { status, errors } = receiving();
  mounted.update(configText(second).slice(0, -7));
  expect([await status(first), await status(second)]).toEqual([200, 401]);
  expect(errors).toMatchObject([{ code: "CONFIG_INVALID" }]);
});

test("a secret that is rotated between the start and the first delivery replaces the one of the start", async () => {
  const { status } = receiving();
  mounted.update(configText(second));
  expect([await status(first), await status(second)]).toEqual([401, 200]);
});

test("the tolerance of the configuration applies unless the program sets one", async () => {
  const strict = JSON.stringify({ ...JSON.parse(configText(first)), toleranceSeconds: 10 });
  mounted.update(strict);
  expect(await receiving().status(first, 11_000)).toBe(401);
  expect(await receiving({ toleranceSeconds: undefined }).status(first, 11_000)).toBe(401);
  expect(await receiving({ toleranceSeconds: 20 }).status(first, 11_000)).toBe(200);
});

test("a relative path is resolved once, at the start", async () => {
  const cwd = process.cwd();
  process.chdir(dirname(mounted.path));
  const { status, pass } = receiving({}, basename(mounted.path));
  process.chdir(cwd);
  mounted.update(configText(second));
  pass(60_000);
  expect([await status(first), await status(second)]).toEqual([401, 200]);
});

test("a file system that hangs costs one read, and the receiver works on", async () => {
  jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask", "performance"] });
  const path = join(dirname(mounted.path), "pipe.json");
  writeFileSync(path, configText(first));
  const { status, pass, errors } = receiving({}, path);
  // Opening a pipe for reading hangs until someone opens it for writing.
  rmSync(path);
  execFileSync("mkfifo", [path]);
  try {
    // More reads than Node has threads for them.
    for (let reads = 1; reads <= 6; reads++) {
      pass(120_000);
      const answered = status(first);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(await answered).toBe(200);
      expect(errors).toHaveLength(reads);
    }
  } finally {
    jest.useRealTimers();
    const other = readFile(__filename, "utf8");
    const done = await Promise.race([other, sleep(20_000, "every thread is stuck")]);
    const writable = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    rmSync(path);
    closeSync(writable);
    expect(done).toContain("a file system that hangs");
  }
});
