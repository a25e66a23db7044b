import { CliError } from "../../src/cli/errors";
import { Pulumi } from "../../src/cli/pulumi";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";

const calls: string[][] = [];
const running =
  (result: Partial<PulumiCommandResult> | NodeJS.ErrnoException) => async (args: readonly string[]) => {
    calls.push([...args]);
    if (result instanceof Error) throw result;
    return { exitCode: 0, stdout: "", stderr: "", ...result };
  };
const missing = Object.assign(new Error("spawn pulumi ENOENT"), { code: "ENOENT" });
const failing = (stderr: string) => running({ exitCode: 255, stderr });
beforeEach(() => calls.splice(0));

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof CliError ? error.message : `not a CliError: ${error}`;
}

test("a command gets the stack that the user named", async () => {
  const pulumi = new Pulumi(running({ stdout: "{}" }), "acme/dev");
  await pulumi.find(["config"]);
  await pulumi.forStack("other").find(["config"]);
  await new Pulumi(running({ stdout: "{}" }), undefined).find(["config"]);
  expect(calls).toEqual([["config", "--stack", "acme/dev"], ["config", "--stack", "other"], ["config"]]);
});

test("a command line in a message names the stack that the user named, quoted for a shell, and no other", () => {
  const lineFor = (stack?: string) => new Pulumi(running({}), stack).withStack("pulumi up");
  expect([lineFor(), lineFor("acme/dev"), lineFor("a b")]).toEqual([
    "pulumi up",
    "pulumi up --stack acme/dev",
    "pulumi up --stack 'a b'",
  ]);
});

test.each([
  ["error: no Pulumi.yaml project file found", "this folder has no Pulumi project"],
  [
    "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
    "Pulumi is not logged in",
  ],
  ["error: no stack selected; please use `pulumi stack select`", "no stack is selected in this backend"],
])(
  "find says why there is nothing after %s, but not for a stack that the user named",
  async (stderr, whyNone) => {
    expect(await new Pulumi(failing(stderr), undefined).find(["config"])).toEqual({ whyNone });
    expect(await codeOf(new Pulumi(failing(stderr), "dev").find(["config"]))).toContain("(PULUMI_FAILED)");
  },
);

test.each([
  ["file:///srv/states?metadata=skip", "the backend file:///srv/states"],
  ["postgres://anna:t0ken@db/states", "the backend postgres://db/states"],
  [undefined, "this backend"],
])("a backend is named without a password: %s", async (url, named) => {
  const answer = async () => ({ exitCode: 0, stdout: JSON.stringify({ user: "anna", url }), stderr: "" });
  expect(await new Pulumi(answer, "dev").describeBackend()).toBe(named);
});

test("find says that there is no Pulumi, but any other failure is an error", async () => {
  const found = await new Pulumi(running(missing), undefined).find(["config"]);
  expect(found.whyNone).toBe("the command pulumi was not found on PATH");
  expect(await codeOf(new Pulumi(running(missing), "dev").find(["config"]))).toMatch(
    /Install the Pulumi CLI.*\(PULUMI_MISSING\)$/,
  );
  const locked = failing("warning: x\nerror: incorrect passphrase\nmore");
  expect(await codeOf(new Pulumi(locked, undefined).find(["config"]))).toMatch(
    /^`pulumi config` failed: incorrect passphrase\. If it is lost, follow \S+ \(PULUMI_FAILED\)$/,
  );
});

test("a command that Ctrl-C ended is not missing", async () => {
  const aborted = Object.assign(new Error("aborted"), { name: "AbortError", code: "ABORT_ERR" });
  expect(await codeOf(new Pulumi(running(aborted), undefined).find(["config"]))).toContain("(INTERRUPTED)");
});

test("an error of Pulumi is quoted without what may be secret, and what is not JSON is not quoted", async () => {
  const told = await codeOf(
    new Pulumi(failing("error: bad value whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw here"), undefined).find([
      "up",
    ]),
  );
  expect(told).not.toContain("MfKQ9r8");
  const printed = await codeOf(new Pulumi(running({ stdout: "topsecret" }), undefined).find(["config"]));
  expect(printed).toBe("`pulumi config` printed something that is not JSON (PULUMI_FAILED)");
});

test("an empty name of a stack is refused, because Pulumi would take the selected one", () => {
  expect(() => new Pulumi(running({}), "")).toThrow("must not be empty (WRONG_USE)");
});
