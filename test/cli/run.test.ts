import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { MAIN, run as runHere, SECRET } from "./commandLine";

let folder: string;
let server: Server;
/** Resolves when the service has got a request. */
let asked: Promise<void>;
/** What the service lists; undefined to give no answer. */
let listed: object[] | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "run-"));
  listed = [];
  asked = new Promise((resolve) => {
    server = createServer((_request, response) => {
      resolve();
      if (listed !== undefined) response.end(JSON.stringify(listed));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The settings, and no Pulumi. */
const environment = () => ({
  PATH: join(process.execPath, ".."),
  WEBHOOKS_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  WEBHOOKS_API_KEY: "key",
  SECRET,
});

const run = (...args: string[]) => runHere(args, { cwd: folder, env: environment() });

function start(program: string, ...args: string[]): ChildProcess {
  return spawn(program, args, { cwd: folder, env: environment(), stdio: ["ignore", "pipe", "pipe"] });
}

async function ended(child: ChildProcess) {
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [exitCode, stdout, stderr] = await Promise.all([
    exit,
    child.stdout ? text(child.stdout) : "",
    child.stderr ? text(child.stderr) : "",
  ]);
  return { exitCode, stdout, stderr };
}

it.each([["list"], ["get", "x"], ["adopt"], ["delete", "x"], ["prune", "--older-than", "7d"], ["doctor"]])(
  "Ctrl-C ends %s with one line and exit status 130",
  async (...args) => {
    listed = undefined;
    const child = start(process.execPath, MAIN, ...args);
    const end = ended(child);
    await asked;
    child.kill("SIGINT");
    expect(await end).toEqual({
      exitCode: 130,
      stdout: "",
      stderr: "error: Ctrl-C ended the command (INTERRUPTED)\n",
    });
  },
);

it.each(["SIGINT", "SIGTERM"] as const)("%s ends a command that waits for a file", async (signal) => {
  const pipe = join(folder, "capture");
  execFileSync("mkfifo", [pipe]);
  const child = start(process.execPath, MAIN, "verify", "--capture", pipe);
  const end = ended(child);
  let writer: number | undefined;
  // Nobody can open it for writing until somebody reads it.
  while (writer === undefined) {
    await sleep(10);
    try {
      writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {}
  }
  child.kill(signal);
  expect((await end).stderr).toMatch(/^error: .*\(INTERRUPTED\)\n$/);
  // A shell makes 130 or 143 of it.
  expect(child.signalCode).toBe(signal);
  closeSync(writer);
});

it("a command ends quietly when nobody reads its output any more", async () => {
  listed = Array.from({ length: 20_000 }, (_, index) => ({
    id: `wh_${index}`,
    url: "https://a.example.com/",
    type: "production",
  }));
  const { stdout, stderr } = await ended(
    start("/bin/sh", "-c", `"$0" "$1" list | /usr/bin/head -n 1; echo done`, process.execPath, MAIN),
  );
  expect(stdout).toMatch(/^ID .*\ndone\n$/);
  expect(stderr).toMatch(/^No stack was looked into, because the command pulumi was not found on PATH\.\n$/);
});

it.each(["list --json", "list --help", "--version", "listen --secret-env SECRET"])(
  "%s fails with one line when its output cannot be written",
  async (args) => {
    const child = start("/bin/sh", "-c", `"$0" "$1" ${args} > /dev/full`, process.execPath, MAIN);
    const { exitCode, stderr } = await ended(child);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: [^\n]*ENOSPC[^\n]*\(UNEXPECTED\)$/m);
  },
);

it("an endpoint that cannot be read is not called missing, nor is its type alone blamed", async () => {
  const url = "https://a.example.com/";
  listed = [
    { id: "up1", type: "PRODUCTION", url },
    { id: "nourl", type: "production", url: null },
  ];
  for (const id of ["up1", "nourl"]) {
    const { status, stderr } = await run("get", id);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`error: the service has ${id}, but it cannot be read: `),
    ]);
  }
  const { stderr } = await run("list");
  expect(stderr).toContain("warning: endpoints that cannot be read are not shown: up1, nourl\n");
  const { stdout } = await run("doctor");
  expect(stdout).toContain("the service lists up1 and nourl in a form that cannot be read");
});

it.each([
  [["delete", "8", "-sprod", "--yes"], /begins with -s may be that option or an id.*\(WRONG_USE\)/],
  [["get", "-sprod"], /begins with -s may be that option or an id.*\(WRONG_USE\)/],
  [["list", "--json=1"], /option '--json' takes no value \(WRONG_USE\)/],
  [["list", "--jsn"], /unknown option '--jsn' \(Did you mean --json\?\) \(WRONG_USE\)/],
  [["prune"], /'--older-than <duration>' not specified \(WRONG_USE\)/],
  [["prune", "--older-than", "7"], /It must be a whole number with a unit.*\(WRONG_USE\)/],
  [
    ["prune", "--older-than", "7d", "--type", "all"],
    /Allowed choices are development, production.*\(WRONG_USE\)/,
  ],
  [["lst"], /unknown command 'lst'.*\(WRONG_USE\)/],
])("wrong use such as %j is one line", async (args, why) => {
  const { status, stdout, stderr } = await run(...args);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(why);
  expect(stderr).toMatch(/^error: [^\n]*\n$/);
});

/** Secrets in the places where hurried users put them. Base64 of 24 bytes, a hexadecimal key, one with a prefix, and a short one. */
const KEYS = [
  "q83vEjRWeJASNFZ4kKvN7xI0Vnirze8S",
  "4f1c0a9b2d4e4f1c0a9b2d4e",
  "key-2b8f6d0c9e4a7153",
  "whsec_q83vEjRWeJASNFZ4kKvN7xI0Vnirze8S",
  "AKIAIOSFODNN7EXAMPLE",
  "it's'q83vEjRWeJASNFZ4kKvN7xI0Vni",
];
const MISPLACED: readonly ((key: string) => string[])[] = [
  (key) => ["list", `--api-key=${key}`],
  (key) => ["list", `--${key}`],
  (key) => ["list", `-x${key}`],
  (key) => [key],
  (key) => ["list", key],
  (key) => ["get", key],
  (key) => ["delete", key, "--yes"],
  (key) => ["prune", "--older-than", key],
  (key) => ["prune", "--older-than", "7d", "--type", key],
  (key) => ["listen", "-p", key],
  (key) => ["verify", "--at", key, "--headers", "h", "--body", "b"],
  (key) => ["verify", "--headers", key, "--body", "b"],
  (key) => ["send", key, "--to", "http://127.0.0.1:1/", "--secret-env", "NONE"],
  (key) => ["send", "job.running", "--to", key],
  (key) => ["send", "job.running", "--to", "http://127.0.0.1:1/", "--secret-env", key],
  (key) => ["probe", "http://127.0.0.1:1/", "--secret-file", key],
  (key) => ["probe", "http://127.0.0.1:1/", "--secret-file", "outputs.json", "--output", key],
  (key) => ["probe", key],
];

it.each(MISPLACED.map((args) => [args("<key>").join(" "), args]))(
  "a key in the wrong place is not repeated: %s",
  async (_shown, args) => {
    writeFileSync(join(folder, "outputs.json"), '{"jobs":"a"}');
    for (const key of KEYS) {
      const { status, stdout, stderr } = await run(...args(key));
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^error: [^\n]* \([A-Z_]+\)\n$/m);
      expect(stderr).not.toContain(key.slice(-12));
      expect(stderr).not.toContain(key.slice(0, 9));
    }
  },
);

it("the name of a variable that every object has is not set", async () => {
  const { stderr } = await run("probe", "http://127.0.0.1:1/", "--secret-env", "__proto__");
  expect(stderr).toMatch(/^error: the environment variable __proto__ is not set.*\(CONFIG_MISSING\)\n$/);
});

it("a command works in a folder that was deleted, or fails with one line and JSON", async () => {
  const inDeleted = (args: string) =>
    ended(
      start(
        "/bin/sh",
        "-c",
        `/bin/mkdir d; cd d; /bin/rmdir ../d; "$0" "$1" ${args}`,
        process.execPath,
        MAIN,
      ),
    );
  const explained = await inDeleted("explain busy --json");
  expect([explained.exitCode, explained.stderr]).toEqual([0, ""]);
  const failed = await inDeleted("verify --json");
  expect([failed.exitCode, JSON.parse(failed.stdout)]).toEqual([
    1,
    { error: { code: "WRONG_USE", message: expect.any(String) } },
  ]);
});

describe("with --json", () => {
  const failures: readonly (readonly [string[], string])[] = [
    [["list", "--json"], "UNREACHABLE"],
    [["get", "wh_1", "--json"], "UNREACHABLE"],
    [["delete", "wh_1", "--json"], "UNREACHABLE"],
    [["delete", "--json", ""], "WRONG_USE"],
    [["doctor", "--json", "--nonsense"], "WRONG_USE"],
    [["prune", "--json"], "WRONG_USE"],
    [["prune", "--older-than", "7d", "--json"], "UNREACHABLE"],
    [["verify", "--headers", "/nowhere", "--body", "b", "--json"], "FILE_UNREADABLE"],
    [["send", "job.running", "--to", "nowhere", "--json"], "WRONG_USE"],
    [["probe", "http://127.0.0.1:1/", "--json"], "SECRET_MISSING"],
    [["listen", "--json", "--port", "70000"], "WRONG_USE"],
    [["listen", "--json"], "SECRET_MISSING"],
  ];

  it.each(failures)("%j prints the error as one JSON value, and as a line", async (args, code) => {
    const dead = { ...environment(), WEBHOOKS_BASE_URL: "http://127.0.0.1:1", WEBHOOKS_TIMEOUT_SECONDS: "1" };
    const { status, stdout, stderr } = await runHere(args, { cwd: folder, env: dead });
    const { error } = JSON.parse(stdout);
    expect(error).toEqual({ code, message: expect.not.stringContaining(`(${code})`) });
    expect(stdout).toMatch(/^[^\n]*\n$/);
    expect(stderr).toContain(`error: ${error.message} (${code})\n`);
    expect(status).toBe(1);
  });

  it("Ctrl-C is one JSON value too", async () => {
    listed = undefined;
    const child = start(process.execPath, MAIN, "list", "--json");
    const end = ended(child);
    await asked;
    child.kill("SIGINT");
    const { exitCode, stdout } = await end;
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      130,
      { error: { code: "INTERRUPTED", message: "Ctrl-C ended the command" } },
    ]);
  });

  it("the word --json as the value of an option changes nothing", async () => {
    const to = ["--to", "http://127.0.0.1:1/"];
    const { stdout, stderr } = await run("send", "job.running", ...to, "--secret-file", "--json");
    expect(stdout).toBe("");
    expect(stderr).toMatch(/CONFIG_MISSING/);
  });
});
