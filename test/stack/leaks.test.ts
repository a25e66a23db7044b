import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";
import { receiverFromEnv, receiverFromFile, receiverFromStack, type StackSource } from "../../src/stack";
import { configText, leaked, newSecret, thrownBy } from "./support";

const runPulumi = jest.fn<Promise<PulumiCommandResult>, [args: readonly string[]]>();
jest.mock("../../src/shared/pulumiCommand", () => ({
  runPulumi: (args: readonly string[]) => runPulumi(args),
}));
beforeEach(() => runPulumi.mockReset());

const secret = newSecret();
const key = secret.slice("whsec_".length);
const config = configText(secret);
/** Everything that someone may pass where the place of the configuration is meant. */
const mistakes = {
  "the configuration": config,
  "the configuration with a line end": `${config}\n`,
  "the configuration as a JSON string": JSON.stringify(config),
  "the configuration in base64": Buffer.from(config).toString("base64"),
  "a list of secrets": JSON.stringify([secret]),
  "a secret": secret,
  "a secret in capitals": `WHSEC_${key}`,
  "the key of a secret": key,
};
const parts = [secret, Buffer.from(config).toString("base64")];

function expectNoLeak(error: unknown, advice: RegExp): void {
  expect(error).toMatchObject({ name: "ReceiverConfigError", code: "CONFIG_MISSING" });
  expect((error as Error).message).toMatch(advice);
  expect(leaked(error, parts)).toEqual([]);
}

describe.each(Object.entries(mistakes))("%s, passed by mistake", (_what, value) => {
  test("as the path of a file, is not in the error", async () => {
    const error = await thrownBy(() => receiverFromFile({ path: value }, { handlers: {} }));
    expectNoLeak(error, /path of the file, not what the file holds/);
  });

  test("as the name of a variable, is not in the error", async () => {
    const error = await thrownBy(() => receiverFromEnv({ variable: value }, { handlers: {} }));
    expectNoLeak(error, /name of the variable, not its value/);
  });

  test("as the name of a stack, is not in the error", async () => {
    const stderr = `error: no stack named '${value}' found\n`;
    runPulumi.mockResolvedValue({ exitCode: 255, stdout: "", stderr });
    const error = await thrownBy(() => receiverFromStack({ stackName: value }, { handlers: {} }));
    expect(leaked(error, parts)).toEqual([]);
  });

  test("as the name of an output, is not in the error", async () => {
    runPulumi.mockResolvedValue({ exitCode: 0, stdout: '{"receiver": "[secret]"}', stderr: "" });
    const source = { stackName: "dev", output: value };
    const error = await thrownBy(() => receiverFromStack(source, { handlers: {} }));
    expectNoLeak(error, /has no output \(not shown, .*its outputs are: receiver/);
  });

  test.each<keyof StackSource>(["workDir", "backendUrl"])("as %s, is not in the error", async (option) => {
    const stderr = `error: could not open "${value}"\n`;
    runPulumi.mockResolvedValue({ exitCode: 1, stdout: "", stderr });
    const source = { stackName: "dev", [option]: value };
    const error = await thrownBy(() => receiverFromStack(source, { handlers: {} }));
    expect(error).toMatchObject({ code: "STACK_UNREADABLE" });
    expect(leaked(error, parts)).toEqual([]);
  });
});

test("a name that is not one of a stack never reaches a command line, where every process can read it", async () => {
  for (const stackName of [config, secret, "", "a b", "a/b/c/d", undefined as unknown as string]) {
    const error = await thrownBy(() => receiverFromStack({ stackName }, { handlers: {} }));
    expectNoLeak(error, /stackName is not the name of a stack/);
  }
  expect(runPulumi).not.toHaveBeenCalled();
});

test.each([
  ["a program's output", `${config}\nerror: no stack named 'dev' found\n`, "no stack named 'dev' found"],
  ["further lines", `error: update failed\n  secret: ${secret}\n${config}\n`, "update failed"],
  ["a secret", `error: could not parse "${secret}"\n`, 'could not parse "whsec_…"'],
  ["JSON", `error: invalid value ${config}\n`, "invalid value {…"],
  ["a key", `error: bad passphrase ${key}\n`, "bad passphrase …"],
  ["a password", "error: cannot connect to postgres://me:pass@db/x\n", "cannot connect to postgres://…@db/x"],
  ["no error line", `${config}\n`, "run it in workDir to see why (exit code 1)"],
])("when the CLI prints %s, the error repeats no secret", async (_what, stderr, says) => {
  runPulumi.mockResolvedValue({ exitCode: 1, stdout: config, stderr });
  const error = await thrownBy(() => receiverFromStack({ stackName: "dev" }, { handlers: {} }));
  const command = "`pulumi stack output --json --stack dev`";
  expect((error as Error).message).toBe(`${command} failed: ${says} (STACK_UNREADABLE)`);
  expect(leaked(error, [secret, "pass@d"])).toEqual([]);
});

test("output that is not JSON is not in the error", async () => {
  runPulumi.mockResolvedValue({ exitCode: 0, stdout: `${config}.`, stderr: "" });
  const error = await thrownBy(() => receiverFromStack({ stackName: "dev" }, { handlers: {} }));
  expect(error).toMatchObject({
    code: "STACK_UNREADABLE",
    message: expect.stringContaining("did not print JSON"),
  });
  expect(leaked(error, [secret])).toEqual([]);
});

test("without the CLI the error says what to install", async () => {
  runPulumi.mockRejectedValue(Object.assign(new Error("spawn pulumi ENOENT"), { code: "ENOENT" }));
  const error = await thrownBy(() => receiverFromStack({ stackName: "dev" }, { handlers: {} }));
  expect(error).toMatchObject({
    code: "PULUMI_MISSING",
    message: expect.stringMatching(/install the Pulumi CLI/),
  });
});

test.each([
  "/etc/webhooks/receiver.json",
  "relative/receiver.json",
  "/Users/Someone/Projects/webhooks1/receiver.json",
  "/run/secrets/webhook_receiver",
  "/srv/Empfänger 1/receiver@2~.json",
])("the path %s, which is clearly a path, is in the error", async (path) => {
  const error = await thrownBy(() => receiverFromFile({ path }, { handlers: {} }));
  expect(error).toMatchObject({
    code: "CONFIG_MISSING",
    message: expect.stringContaining(`${path} cannot be read`),
  });
});

test("a file with an unusual name can be read, and its errors repeat nothing that it holds", async () => {
  const folder = mkdtempSync(join(tmpdir(), "stack-"));
  try {
    const path = join(folder, '{"receiver"}');
    writeFileSync(path, config);
    receiverFromFile({ path }, { handlers: {} });
    writeFileSync(path, config.slice(0, -5));
    const error = await thrownBy(() => receiverFromFile({ path }, { handlers: {} }));
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    expect(leaked(error, [secret])).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
