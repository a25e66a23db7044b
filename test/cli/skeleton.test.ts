import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { COMMANDS } from "../../src/cli/commands";
import { CliError } from "../../src/cli/errors";
import { jsonOption } from "../../src/cli/options";
import { Output } from "../../src/cli/output";
import type { Context, Subcommand } from "../../src/cli/run";
import { printable } from "../../src/shared/escape";
import { deferred } from "../receiver/support";
import { API_KEY, makeFolder, type RunOptions, run, runBin, SECRET, start } from "./running";

const names = Object.keys(COMMANDS);

/** Starts a subcommand of a test. */
function startOwn(run: Subcommand["run"], args: readonly string[] = [], options: RunOptions = {}) {
  const load = () => ({ summary: "", description: "", options: [jsonOption()], examples: [], run });
  return start(["own", ...args], { ...options, commands: { own: load } });
}
const runOwn = (...given: Parameters<typeof startOwn>) => startOwn(...given).ended;

test("the help names every subcommand, and the one table of exit statuses", async () => {
  const { status, stdout, stderr } = await run([]);
  expect([status, stderr]).toEqual([0, ""]);
  expect((await run(["--help"])).stdout).toBe(stdout);
  for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} +\\w`, "m"));
  expect(stdout).toMatch(/Exit status:\n {2}0 .*\n {2}1 .*\n {2}130 .*Ctrl-C/);
});

test.each(names)("the help of %s fits a screen, and its options are few", async (name) => {
  const { status, stdout } = await run([name, "--help"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Usage: pulumi-webhook-endpoints ${name} `));
  expect(stdout.split("\n").length).toBeLessThanOrEqual(36);
  expect(stdout).toContain(`$ npx pulumi-webhook-endpoints ${name}`);
  const common = ["--stack", "--json", "--yes"];
  const own = (await COMMANDS[name]?.())?.options.filter(({ long }) => !common.includes(long ?? ""));
  expect(own?.length).toBeLessThanOrEqual(6);
});

/** Where nobody listens. */
const TO = ["--to", "http://127.0.0.1:1/"];

test.each([
  [["sned"], /unknown command 'sned' \(Did you mean send\?\)/],
  [["send", "job.running", ...TO, "--dat", "x"], /unknown option '--dat'.*Did you mean --data/],
  [["send", "job.running"], /required option '--to <url>' not specified/],
  [["send", ...TO, `--key=${API_KEY}`], /unknown option '--key'/],
  [
    ["send", "job.running", "--to", `${API_KEY}`],
    /--to <url>' argument is invalid. It must be an absolute URL/,
  ],
  [["probe", API_KEY], /value is invalid for argument 'url'. It must be an absolute URL/],
  [["probe", `https://a:${API_KEY}@hooks.example.com`], /It must not contain a user name or password/],
  [["listen", "--port", "70000"], /whole number from 0 to 65535/],
  [["send", ...TO, "job.running", SECRET], /too many arguments/],
] as const)("the wrong use %# is answered with one line that repeats no value", async (args, why) => {
  const { status, stdout, stderr } = await run(args);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^error: [^\n]*[^.] \(WRONG_USE\)\n$/);
  expect(stderr).toMatch(why);
});

test("with --json, an error is the one value on standard output", async () => {
  const { status, stdout, stderr } = await run(["send", ...TO, "--json"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    error: { code: "WRONG_USE", message: expect.stringMatching(/^name an event/) },
  });
  expect(stderr).toMatch(/^error: name an event.*\(WRONG_USE\)\n$/);
});

test.each<[what: string, print: (output: Output) => void, printed: string]>([
  [
    "the result leaves the one value as it is",
    (output) => output.data({ a: 1 }, () => {}),
    '{\n  "a": 1\n}\n',
  ],
  [
    "a record is a line of its own",
    (output) => output.record({ a: 1 }, "a"),
    '{"a":1}\n{"error":{"code":"UNEXPECTED","message":"first second"}}\n',
  ],
])(
  "with --json, an error after %s; without a code, it is UNEXPECTED, in one line",
  async (_, print, printed) => {
    const run = async ({ output }: Context) => {
      print(output);
      throw new Error("first\n  second");
    };
    const stderr = "error: first second (UNEXPECTED)\n";
    expect(await runOwn(run, ["--json"])).toEqual({ status: 1, stdout: printed, stderr });
  },
);

test("Ctrl-C ends a subcommand at once, and one that ends itself in its own way", async () => {
  const hanging = startOwn(() => new Promise(() => undefined));
  expect(await hanging.stop()).toMatchObject({
    status: 130,
    stderr: "error: Ctrl-C ended the command (INTERRUPTED)\n",
  });
  const started = deferred();
  const ending = startOwn(async ({ signal, endItself }) => {
    endItself();
    started.resolve();
    await once(signal, "abort");
    throw new CliError("INTERRUPTED", "deleted wh_1");
  });
  await started.promise;
  expect(await ending.stop()).toMatchObject({ status: 130, stderr: "error: deleted wh_1 (INTERRUPTED)\n" });
});

test("known secrets and whatever looks like a signing secret are masked in all output", async () => {
  const everything = async ({ output }: Context) => {
    output.remember(SECRET);
    output.remember(API_KEY);
    const said = `${SECRET} ${encodeURIComponent(SECRET)} ${SECRET.slice(6)} ${API_KEY} whsec_abcDEF123+/==`;
    output.line(said);
    output.table(["HEADING"], [[said]]);
    output.note(said);
    output.warn(said);
    output.data({ said, deep: [{ said }] }, () => output.line(said));
    throw new CliError("UNEXPECTED", said);
  };
  for (const args of [[], ["--json"]]) {
    const { stdout, stderr } = await runOwn(everything, args);
    for (const part of [SECRET.slice(6), API_KEY, "abcDEF123", encodeURIComponent(SECRET.slice(6))])
      expect(stdout + stderr).not.toContain(part);
    expect(stdout + stderr).toContain("whsec_…");
  }
});

test("a value of fewer than eight characters may be a word, and is not masked", () => {
  const mask = new Output({ json: false, stdout: process.stdout, stderr: process.stderr, env: {} });
  mask.remember("dev");
  expect(mask.masked("development")).toBe("development");
});

test("control characters are escaped in lines and in JSON, so that a hostile url controls no terminal", async () => {
  expect(printable("a\u001b[2Jb\u202e\u2028\u{e0001}")).toBe("a\\u001b[2Jb\\u202e\\u2028\\udb40\\udc01");
  const hostile = "\u001b]0;title\u0007\u0085";
  const run = async ({ output }: Context) => {
    output.data({ hostile }, () => output.line(hostile));
    output.note(hostile);
    return true;
  };
  for (const args of [[], ["--json"]]) {
    const { stdout, stderr } = await runOwn(run, args);
    expect(stdout + stderr).not.toMatch(/[^\P{C}\n]/u);
    if (args.length > 0) expect(JSON.parse(stdout)).toEqual({ hostile });
  }
});

test("a table is aligned, a warning is printed once, and only a terminal without NO_COLOR gets colors", async () => {
  const run = async ({ output }: Context) => {
    output.table(["ID", "TYPE"], [["wh_123", "production"]]);
    output.warn("careful");
    output.warn("careful");
    return true;
  };
  const plain = { stdout: "ID      TYPE\nwh_123  production\n", stderr: "warning: careful\n" };
  expect(await runOwn(run)).toMatchObject(plain);
  expect(await runOwn(run, [], { isTTY: true, env: { NO_COLOR: "1" } })).toMatchObject(plain);
  const colored = await runOwn(run, [], { isTTY: true });
  expect(colored.stdout).toContain("\u001b[1mID      TYPE\u001b[22m\n");
});

test("a terminal sees every two seconds what a long operation is doing", async () => {
  jest.useFakeTimers();
  let printed = "";
  const write = (text: string) => {
    printed += text;
  };
  const sink = { isTTY: true, write };
  const output = new Output({ json: false, stdout: sink, stderr: sink, env: { NO_COLOR: "1" } });
  const work = new Promise((done) => setTimeout(() => done("done"), 5_000));
  const working = output.during(() => "Reading 3 of 8 stacks…", work);
  jest.advanceTimersByTime(2_100);
  expect(printed).toBe("Reading 3 of 8 stacks…\n");
  await jest.advanceTimersByTimeAsync(20_000);
  expect(printed).toBe("Reading 3 of 8 stacks…\nReading 3 of 8 stacks…\n");
  expect(await working).toBe("done");
  jest.useRealTimers();
});

test("the real command prints its version, and the status of a failure", async () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
  expect(await runBin(["--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  expect(await runBin(["verify"])).toMatchObject({ status: 1, stdout: "" });
});

/** Starts the real command, at a free port. */
function startReal(name: string) {
  const main = join(__dirname, "../../dist/cli/main.js");
  return spawn(process.execPath, [main, name, "--port", "0"], { cwd: makeFolder({}), env: { PATH: "" } });
}

// Windows has no signals: there, `kill` ends a process at once.
const testSignals = process.platform === "win32" ? test.skip : test;
testSignals.each([
  ["SIGINT", "listen"],
  ["SIGTERM", "emulator"],
] as const)("%s ends the real %s with 0, and SIGHUP without a terminal does not", async (signal, name) => {
  const child = startReal(name);
  await once(child.stdout, "data");
  const ended = once(child, "close");
  child.kill("SIGHUP");
  child.kill(signal);
  expect(await ended).toEqual([0, null]);
});

test("the real command stops when nobody reads its output any more", async () => {
  const child = startReal("listen");
  const [address] = await once(child.stdout, "data");
  child.stdout.destroy();
  const ended = once(child, "exit");
  const stderr = text(child.stderr);
  await fetch(String(address).trim(), { method: "POST", body: "{}" });
  expect(await ended).toEqual([0, null]);
  expect(await stderr).not.toContain("error");
});

/** Returns the files that a file loads by static imports of values. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, "utf8").matchAll(
    /^(?:im|ex)port (?!type\b)[^;]*?from "(\.[^"]+(?<!\.json))";/gm,
  );
  for (const [, path = ""] of imports) {
    const target = resolve(dirname(file), path);
    const isFolder = !readdirSync(dirname(target)).includes(`${basename(target)}.ts`);
    loadedBy(isFolder ? join(target, "index.ts") : `${target}.ts`, seen);
  }
  return seen;
}

test.each(["list", "send"])("%s loads at most 45 files, because it is started often", (name) => {
  expect(loadedBy(resolve(__dirname, `../../src/cli/commands/${name}.ts`)).size).toBeLessThanOrEqual(45);
});
