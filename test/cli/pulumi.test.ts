import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutSecrets } from "../../src/cli/knownSecrets";
import { Pulumi, pulumiFailed } from "../../src/cli/oldPulumi";

const messageOf = (stderr: string) =>
  pulumiFailed(["stack", "export"], { exitCode: 255, stdout: "", stderr }).message;

it("pulumiFailed quotes only the first line of the error", () => {
  expect(messageOf("warning: old\nerror: no stack named 'prod' found\nkey = t0ken\n")).toBe(
    "`pulumi stack export` failed: no stack named 'prod' found (PULUMI_FAILED)",
  );
});

it("pulumiFailed quotes the first of several errors, not their number", () => {
  const stderr = "error: 2 errors occurred:\n\t* open dev.json: permission denied\n\t* more\n\n";
  expect(messageOf(stderr)).toBe(
    "`pulumi stack export` failed: open dev.json: permission denied (PULUMI_FAILED)",
  );
});

it("pulumiFailed masks signing secrets and control characters, and cuts a long line", () => {
  const message = messageOf(
    `error: \u001b[31mbad whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw= ${"x".repeat(5_000)}`,
  );
  expect(message).toContain("bad whsec_… x");
  expect(message).not.toMatch(/MfKQ|\p{Cc}/u);
  expect(message.length).toBeLessThan(400);
});

it.each([
  "error: open 'postgres://user:hunter2pass@127.0.0.1:1/db': refused",
  "error: parse postgres://user:hunter2/pa?ss@127.0.0.1:1/db: invalid port",
  "error: postgres://127.0.0.1:1/db?user=me&password=hunter2pass: refused",
  "postgres://user:hunter2pass@127.0.0.1:1/db refuses",
])("pulumiFailed masks the password of the backend: %s", (stderr) => {
  const message = messageOf(stderr);
  expect(message).toMatch(/127\.0\.0\.1:1\/db.*(refuse|invalid port)/);
  expect(message).not.toMatch(/user|hunter2|pa\?ss/);
});

it("pulumiFailed quotes the path of a folder that exists, and masks what may be a key in or beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "Pulumi-Project-1-"));
  const key = "QpX7mVt2nK9sLw4dYb8hRf6j";
  try {
    expect(messageOf(`error: open ${folder}/Pulumi.dev.yaml: no such file`)).toContain(
      `open ${folder}/Pulumi.dev.yaml: no such file`,
    );
    expect(messageOf(`error: open 'file://${folder}/': refused`)).toContain(`'file://${folder}/': refused`);
    for (const text of [`${folder}/${key}`, `/${key}/${folder}`, key, `/${key}`, `${folder}-${key}/a`])
      expect(messageOf(`error: open ${text}: refused`)).not.toContain(key);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("pulumiFailed quotes the last line if no line is an error", () => {
  expect(messageOf("Downloading pulumi v3…\r\n\npermission denied\n \n")).toBe(
    "`pulumi stack export` failed: permission denied (PULUMI_FAILED)",
  );
});

it("the name of a stack that nothing has refused is shown, however long it is", () => {
  const names = ["production-eu-west-1", "organization/project-number-1/production"];
  for (const name of names) new Pulumi(undefined).of(name);
  expect(withoutSecrets(names.join())).toBe(names.join());
});

it("PULUMI_OPTION_STACK names the stack as --stack does: Pulumi takes its settings", () => {
  const env = { PULUMI_OPTION_STACK: "prod", PULUMI_STACK: "dev" };
  expect(Pulumi.withSettings(undefined, { env }).stack).toBe("prod");
  expect(Pulumi.withSettings("test", { env }).stack).toBe("test");
  expect(Pulumi.withSettings(undefined, { env: { PULUMI_STACK: "dev" } }).stack).toBeUndefined();
});

describe("with another PATH", () => {
  const { PATH } = process.env;
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pulumi-"));
    process.env.PATH = folder;
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  it("a command that is not there is an absence", async () => {
    const { absence } = await new Pulumi(undefined).find(["config"]);
    expect(absence).toBe("the command pulumi was not found on PATH");
  });

  it("a folder of the command's name is no command, although the system refuses it as one", async () => {
    mkdirSync(join(folder, "pulumi"));
    const { absence } = await new Pulumi(undefined).find(["config"]);
    expect(absence).toBe("the command pulumi was not found on PATH");
  });

  it("a command that is there and cannot be executed is a failure", async () => {
    writeFileSync(join(folder, "pulumi"), "#!/bin/sh\n", { mode: 0o644 });
    const finding = new Pulumi(undefined).find(["config"]);
    await expect(finding).rejects.toMatchObject({ code: "PULUMI_FAILED" });
    await expect(finding).rejects.toThrow(
      /cannot be started \(EACCES\)\. Check that you may execute the file/,
    );
  });

  it("a command gets no option from a variable that would hide stacks or print an old state", async () => {
    const options = ["PROJECT", "TAG", "ORGANIZATION", "VERSION", "FILE", "SHOW_SECRETS", "CWD"];
    const warning = "PULUMI_DIY_BACKEND_NO_LEGACY_WARNING";
    const names = [...options.map((option) => `PULUMI_OPTION_${option}`), warning];
    const print = `process.stdout.write(JSON.stringify(Object.keys(process.env).filter((name) => /^PULUMI_(OPTION|DIY)/.test(name))))`;
    writeFileSync(join(folder, "pulumi"), `#!${process.execPath}\n${print}\n`, { mode: 0o755 });
    for (const name of names) process.env[name] = ".";
    try {
      expect(await new Pulumi(undefined).json(["stack", "ls"])).toEqual(["PULUMI_OPTION_CWD"]);
    } finally {
      for (const name of names) Reflect.deleteProperty(process.env, name);
    }
  });
});
