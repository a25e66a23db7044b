import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";
import {
  type ConfiguredReceiverOptions,
  receiverFromEnv,
  receiverFromFile,
  receiverFromStack,
} from "../../src/stack";
import { holdTime } from "../heldTime";
import { clock, delivered } from "../receiver/support";
import { MountedSecret } from "./mountedSecret";
import { configText, leaked, newSecret, thrownBy } from "./support";

const runPulumi = jest.fn<Promise<PulumiCommandResult>, [args: readonly string[]]>();
jest.mock("../../src/shared/pulumiCommand", () => ({
  runPulumi: (args: readonly string[]) => runPulumi(args),
}));

const [first, second] = [newSecret(), newSecret()];
const options = { handlers: {}, onUnhandled() {} };
let mounted: MountedSecret;

beforeEach(() => {
  runPulumi.mockReset();
  mounted = new MountedSecret(configText(first));
});
afterEach(() => mounted.unmount());

/** Creates a receiver from the file, with a clock that stands still. */
function receiving(more: Partial<ConfiguredReceiverOptions> = {}, path = mounted.path) {
  const time = clock();
  const errors: unknown[] = [];
  const onSecretsError = (error: unknown) => errors.push(error);
  const receiver = receiverFromFile({ path }, { ...options, now: time.now, onSecretsError, ...more });
  const status = async (secret: string, sentAgoMs = 0) =>
    (await receiver.handle(delivered({ secret, at: time.now() - sentAgoMs }))).status;
  return { status, errors, pass: time.pass };
}

describe("receiverFromFile", () => {
  // No read of the file takes too long on a slow machine.
  beforeEach(holdTime);

  test("uses a new version of the file without a restart, and refuses a removed secret a minute later", async () => {
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

  test("keeps the last good secrets while the file cannot be used, and reports that without a secret", async () => {
    const { status, pass, errors } = receiving();
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
    const codes = [...broken.map(() => "CONFIG_INVALID"), "CONFIG_MISSING"];
    expect(errors).toMatchObject(codes.map((code) => ({ code })));
    for (const error of errors) expect(String(error)).toContain(mounted.path);
    expect(leaked(errors, [first, second])).toEqual([]);
  });

  test("resolves a relative path once, at the start", async () => {
    const cwd = process.cwd();
    process.chdir(dirname(mounted.path));
    const { status, pass } = receiving({}, basename(mounted.path));
    process.chdir(cwd);
    mounted.update(configText(second));
    pass(60_000);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
  });

  test("takes the tolerance of the configuration unless the program sets one", async () => {
    mounted.update(JSON.stringify({ ...JSON.parse(configText(first)), toleranceSeconds: 10 }));
    expect(await receiving().status(first, 11_000)).toBe(401);
    expect(await receiving({ toleranceSeconds: 20 }).status(first, 11_000)).toBe(200);
  });

  // Windows has no named pipes in folders.
  const testPipe = process.platform === "win32" ? test.skip : test;
  testPipe("works on while the file system hangs, and leaves Node's other threads free", async () => {
    const path = join(dirname(mounted.path), "pipe.json");
    writeFileSync(path, configText(first));
    const { status, pass } = receiving({}, path);
    // Opening a pipe for reading hangs until someone opens it for writing.
    rmSync(path);
    execFileSync("mkfifo", [path]);
    try {
      // More reads than Node has threads for them.
      for (let reads = 1; reads <= 6; reads++) {
        pass(120_000);
        const responded = status(first);
        await jest.advanceTimersByTimeAsync(5_000);
        expect(await responded).toBe(200);
      }
    } finally {
      jest.useRealTimers();
      const stuck = new Promise((resolve) => setTimeout(resolve, 60_000, "every thread is stuck").unref());
      const done = await Promise.race([readFile(__filename, "utf8"), stuck]);
      const writable = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      rmSync(path);
      closeSync(writable);
      expect(done).toContain("works on while the file system hangs");
    }
  });
});

process.env.EMPTY_RECEIVER = " ";
const path = resolve("/etc/webhooks/receiver.json");
const longPath = resolve("/Users/Someone/Projects/webhooks1/receiver.json");
test.each<[says: string, create: () => unknown]>([
  ["variable WEBHOOK_RECEIVER is not set", () => receiverFromEnv({}, options)],
  ["variable NO_RECEIVER is not set", () => receiverFromEnv({ variable: "NO_RECEIVER" }, options)],
  ["variable EMPTY_RECEIVER is not set", () => receiverFromEnv({ variable: "EMPTY_RECEIVER" }, options)],
  [`${path} cannot be read (ENOENT)`, () => receiverFromFile({ path }, options)],
  [`${longPath} cannot be read (ENOENT)`, () => receiverFromFile({ path: longPath }, options)],
])("a place that has no configuration is named: %s", async (says, create) => {
  const message = expect.stringContaining(says);
  expect(await thrownBy(create)).toMatchObject({ code: "CONFIG_MISSING", message });
});

const config = configText(first);
const key = first.slice("whsec_".length);
describe.each([
  ["the configuration", config],
  ["the configuration as a JSON string", JSON.stringify(config)],
  ["the configuration in base64", Buffer.from(config).toString("base64")],
  ["a secret", first],
  ["a secret in capitals", `WHSEC_${key}`],
  ["the key of a secret", key],
])("%s, passed by mistake, is not in the error", (_what, value) => {
  const outputs = { exitCode: 0, stdout: '{"receiver": "[secret]"}', stderr: "" };
  const failure = { exitCode: 1, stdout: "", stderr: `error: could not open "${value}"\n` };
  test.each<[as: string, () => unknown, PulumiCommandResult]>([
    ["a path", () => receiverFromFile({ path: value }, options), outputs],
    ["a variable", () => receiverFromEnv({ variable: value }, options), outputs],
    ["a stack", () => receiverFromStack({ stackName: value }, options), failure],
    ["an output", () => receiverFromStack({ stackName: "dev", output: value }, options), outputs],
    ["a folder", () => receiverFromStack({ stackName: "dev", workDir: value }, options), failure],
    ["a backend", () => receiverFromStack({ stackName: "dev", backendUrl: value }, options), failure],
  ])("as the name of %s", async (_as, create, result) => {
    runPulumi.mockResolvedValue(result);
    const error = await thrownBy(create);
    expect(error).toMatchObject({ code: expect.stringMatching(/^(CONFIG_MISSING|STACK_UNREADABLE)$/) });
    expect(leaked(error, [first, Buffer.from(config).toString("base64")])).toEqual([]);
  });
});

test("without the name of a stack, receiverFromStack does not take the selected one", async () => {
  for (const stackName of ["", "--cwd=x"])
    await expect(receiverFromStack({ stackName }, options)).rejects.toMatchObject({ code: "CONFIG_MISSING" });
  expect(runPulumi).not.toHaveBeenCalled();
});

test.each<[what: string, result: Partial<PulumiCommandResult>, says: string]>([
  ["a program's output", { stderr: `${config}\nerror: no stack named 'dev'\n` }, "no stack named 'dev'"],
  ["further lines", { stderr: `error: update failed\n  secret: ${first}\n` }, "update failed"],
  ["a secret", { stderr: `error: could not parse "${first}"\n` }, 'could not parse "whsec_…"'],
  ["JSON", { stderr: `error: invalid value ${config}\n` }, "invalid value {…"],
  ["a key", { stderr: `error: bad passphrase ${key}\n` }, "bad passphrase …"],
  ["no error line", { stderr: `${config}\n` }, "run it in workDir to see why (exit code 1)"],
  ["no JSON", { exitCode: 0, stdout: `${config}.` }, "run it in workDir to see why (exit code 0)"],
])("when the CLI prints %s, receiverFromStack repeats no secret", async (_what, result, says) => {
  runPulumi.mockResolvedValue({ exitCode: 1, stdout: config, stderr: "", ...result });
  const error = await thrownBy(() => receiverFromStack({ stackName: "dev" }, options));
  expect((error as Error).message).toBe(
    `\`pulumi stack output\` failed for stack dev: ${says} (STACK_UNREADABLE)`,
  );
  expect(leaked(error, [first])).toEqual([]);
});
