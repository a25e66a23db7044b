import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { receiver } from "../emulator/receiver";

const COMMAND = [process.execPath, join(__dirname, "../../dist/cli/main.js"), "emulator"];

let child: ChildProcess;
let printed: string;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "emulator-command-"));
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

function start(...args: string[]): void {
  run([...COMMAND, ...args]);
}

function run([command = "", ...args]: readonly string[]): void {
  printed = "";
  child = spawn(command, args, { stdio: "pipe" });
  child.stdin?.on("error", () => undefined);
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      printed += chunk;
    });
}

/** Waits until the command has printed something that matches. */
async function until(pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(printed);
    if (found) return found;
    if (child.exitCode !== null) throw new Error(`The command ended: ${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function settings(): Promise<{ url: string; apiKey: string; secret: string }> {
  const [, url = "", apiKey = "", secret = ""] = await until(
    /set webhooks:baseUrl (\S+)\n.*webhooks:apiKey (\S+)\n.*signingSecret (whsec_\S+)\n/,
  );
  return { url, apiKey, secret };
}

async function register({ url, apiKey }: { url: string; apiKey: string }, to: string): Promise<Response> {
  return fetch(`${url}/webhooks`, {
    method: "POST",
    headers: { "X-Api-Key": apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({ url: to, type: "development" }),
  });
}

async function stopped(signal: NodeJS.Signals = "SIGTERM"): Promise<unknown> {
  const exit = once(child, "exit");
  child.kill(signal);
  return (await exit)[0];
}

it("the command prints settings, runs a job on Enter, rotates secrets, and stops on Ctrl-C", async () => {
  start("--port", "0");
  const service = await settings();
  child.stdin?.write("\n");
  await until(/no endpoint is registered/);

  child.stdin?.write("rotate\n");
  const [, added] = await until(/^The emulator now also signs with (whsec_\S+)$/m);
  child.stdin?.write("finish\n");
  const [, only] = await until(/^The emulator now signs only with (whsec_\S+)$/m);
  expect([added === service.secret, only]).toEqual([false, added]);

  const { url } = await receiver(200, 200, 401);
  const { id } = (await (await register(service, url)).json()) as { id: string };
  child.stdin?.write("\n");
  await until(
    new RegExp(`^job.running to ${id} \\(${url}\\): 200\njob.succeeded to ${id} \\(${url}\\): 200$`, "m"),
  );
  child.stdin?.write("\n");
  await until(new RegExp(`^job.running to ${id} \\(${url}\\): 401, next attempt in 1 s$`, "m"));
  expect(printed.match(/^job.running/gm)).toHaveLength(2);
  expect(await stopped("SIGINT")).toBe(0);
});

it.each(["__proto__", "constructor", "toString", "quit now"])(
  "the command answers the unknown line %s with its help",
  async (line) => {
    start("--port", "0");
    await settings();
    child.stdin?.write(`${line}\n`);
    await until(new RegExp(`^Unknown command "${line}". The commands are:\n +Enter +run a job`, "m"));
  },
);

it("the command escapes the control characters of an event's type", async () => {
  start("--port", "0");
  const service = await settings();
  const { url } = await receiver();
  const { id } = (await (await register(service, url)).json()) as { id: string };
  await fetch(`${service.url}/_emulator/events`, {
    method: "POST",
    headers: { origin: service.url },
    body: new URLSearchParams({ endpointId: id, body: JSON.stringify({ type: "\u001b[2J\nerror: none" }) }),
  });
  await until(/error: none to/);
  expect(printed).toContain(`\n\\u001b[2J\\u000aerror: none to ${id} (${url}): `);
});

it("the settings survive a restart with the same data file", async () => {
  const dataFile = join(folder, "emulator.json");
  start("--port", "0", "--data-file", dataFile, "--api-key", "a-key-of-my-own");
  const first = await settings();
  expect(first.apiKey).toBe("a-key-of-my-own");
  expect((await register(first, "https://example.com/")).status).toBe(201);
  expect(await stopped()).toBe(0);

  start("--port", "0", "--data-file", dataFile);
  const { apiKey, secret } = await settings();
  expect({ apiKey, secret }).toEqual({ apiKey: first.apiKey, secret: first.secret });
});

const SHELL = (command: string) => ["sh", "-c", `exec ${command}`, "sh", ...COMMAND, "--port", "0"];

it.each([
  ["under nohup", SHELL('nohup "$@"')],
  ["with a closed standard input", SHELL('"$@" <&-')],
  ["with a standard input that cannot be read", SHELL('"$@" 0> /dev/null')],
  ["with an empty standard input", SHELL('"$@" < /dev/null')],
])("the command %s keeps serving, also after a hangup", async (_, command) => {
  run(command);
  const service = await settings();
  child.stdin?.end();
  child.kill("SIGHUP");
  for (let n = 0; n < 3; n += 1) expect((await register(service, "https://example.com/")).status).toBe(201);
  expect(child.exitCode).toBeNull();
  expect(await stopped()).toBe(0);
});

it("the command keeps serving when nobody reads its output", async () => {
  start("--port", "0");
  const service = await settings();
  const { url, received } = await receiver();
  await register(service, url);
  child.stdout?.destroy();
  child.stderr?.destroy();
  for (let jobs = 1; jobs <= 2; jobs += 1) {
    child.stdin?.write("\nhelp\n");
    while (received.length < 2 * jobs) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect((await register(service, url)).status).toBe(201);
  expect(await stopped()).toBe(0);
});

it("the command stops with one line when its data file becomes unwritable", async () => {
  const data = join(folder, "data");
  start("--port", "0", "--data-file", join(data, "emulator.json"));
  const service = await settings();
  await rm(data, { recursive: true });
  await writeFile(data, "a file where a folder should be");
  expect((await register(service, "https://example.com/")).status).toBe(500);
  printed = "";
  expect(await stopped()).toBe(1);
  expect(printed).toMatch(/^error: Cannot write the emulator's data file .*\n$/);
});

it("the command answers at a host that --allowed-host names, and at no other", async () => {
  start("--port", "0", "--allowed-host", "emulator", "proxy.example");
  const { url, apiKey } = await settings();
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const headers = { host, "X-Api-Key": apiKey };
      get(`${url}/webhooks`, { headers }, (response) => resolve(response.resume().statusCode)).on(
        "error",
        reject,
      );
    });
  expect([await status("proxy.example"), await status("other.example")]).toEqual([200, 421]);
});

it.each([
  [["--port", "many"], /--port.*whole number/],
  [["--port", "70000"], /port/],
  [["--data-file", "/nowhere/endpoints.json", "--latency"], /argument missing/],
  [["--port", "0", "--data-file", "/proc/nowhere/endpoints.json"], /Cannot write .*\/proc\/nowhere/],
  [["--port", "0", "--secret", "whsec_no-base64"], /^(?!.*no-base64).*secret/s],
  [["--port", "0", "--api-key", ""], /API key/],
])("the command refuses %j with one line and exit status 1", async (args, why) => {
  start(...args);
  const [status] = await once(child, "exit");
  expect(status).toBe(1);
  expect(printed).toMatch(why);
  expect(printed.trimEnd().split("\n")).toHaveLength(1);
});
