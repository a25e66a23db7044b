import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const COMMAND = join(__dirname, "../../dist/cli/main.js");

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

/** Starts a command without any Pulumi. */
function start(program: string, ...args: string[]): ChildProcess {
  const { port } = server.address() as AddressInfo;
  return spawn(program, args, {
    cwd: folder,
    env: {
      PATH: join(process.execPath, ".."),
      WEBHOOKS_BASE_URL: `http://127.0.0.1:${port}`,
      WEBHOOKS_API_KEY: "key",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
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

it.each([["list"], ["adopt"], ["prune", "--older-than", "7d", "--yes"], ["doctor"]])(
  "Ctrl-C ends %s with one line and exit status 130",
  async (...args) => {
    listed = undefined;
    const child = start(process.execPath, COMMAND, ...args);
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

it("a command ends quietly when nobody reads its output any more", async () => {
  listed = Array.from({ length: 20_000 }, (_, index) => ({
    id: `wh_${index}`,
    url: "https://a.example.com/",
    type: "production",
  }));
  const { stdout, stderr } = await ended(
    start("/bin/sh", "-c", `"$0" "$1" list | /usr/bin/head -n 1; echo done`, process.execPath, COMMAND),
  );
  expect(stdout).toMatch(/^ID .*\ndone\n$/);
  expect(stderr).toMatch(/^No stack was looked into, because the command pulumi was not found on PATH\.\n$/);
});

it("a command fails with one line when its output cannot be written", async () => {
  const child = start("/bin/sh", "-c", `"$0" "$1" list --json > /dev/full`, process.execPath, COMMAND);
  const { exitCode, stderr } = await ended(child);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^error: [^\n]*ENOSPC[^\n]*\(UNEXPECTED\)$/m);
});

it.each([
  [["list", "--jsn"], /unknown option '--jsn' \(Did you mean --json\?\) \(WRONG_USE\)/],
  [["prune"], /'--older-than <duration>' not specified \(WRONG_USE\)/],
  [["prune", "--older-than", "7"], /It must be a number with a unit.*\(WRONG_USE\)/],
  [
    ["prune", "--older-than", "7d", "--type", "all"],
    /Allowed choices are development, production.*\(WRONG_USE\)/,
  ],
  [["lst"], /unknown command 'lst'.*\(WRONG_USE\)/],
])("wrong use such as %j is one line", async (args, why) => {
  const { exitCode, stdout, stderr } = await ended(start(process.execPath, COMMAND, ...args));
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(why);
  expect(stderr).toMatch(/^error: [^\n]*\n$/);
});
