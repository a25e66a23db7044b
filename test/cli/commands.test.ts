import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startEmulator } from "../../src/emulator";
import { receiver } from "../emulator/receiver";
import { processesOf } from "../engine/session";
import { leaked, newSecret } from "../stack/support";
import {
  API_KEY,
  cleanUp,
  type Ended,
  MAIN,
  makeFolder,
  OTHER_SECRET,
  run,
  SECRET,
  stackFolder,
  start,
} from "./commandLine";

beforeAll(() => {
  writeFileSync(join(FILES, "headers"), "webhook-id: msg_1\n");
  writeFileSync(join(FILES, "body"), "{}");
});
afterAll(() => rmSync(FILES, { recursive: true }));
afterEach(cleanUp);

const URL = "http://127.0.0.1:1/jobs";
const FILES = mkdtempSync(join(tmpdir(), "capture-"));
/** A correct use of each command, but for the secret. */
const USES: Readonly<Record<string, readonly string[]>> = {
  verify: ["verify", "--headers", join(FILES, "headers"), "--body", join(FILES, "body")],
  send: ["send", "job.running", "--to", URL],
  probe: ["probe", URL],
  listen: ["listen"],
};
const uses = Object.entries(USES);
const SOURCE = ["--secret-env", "THE_SECRET"];
const env = { THE_SECRET: SECRET };

/** Expects that a command failed with one line that ends with a code, and printed nothing else. */
function expectFailure({ status, stdout, stderr }: Ended, code: string, why: RegExp = /./): void {
  expect(stderr).toMatch(new RegExp(`^error: [^\n]* \\(${code}\\)\n$`));
  expect(stderr).toMatch(why);
  expect([status, stdout]).toEqual([1, ""]);
}

test.each([
  [["verify", "--body", "b"], /--headers/],
  [["verify", "--headers", "h"], /--body/],
  [["verify", "--capture", "c", "--headers", "h"], /leave out --headers/],
  [["verify", "--headers", "-", "--body", "-"], /only one file can be standard input/],
  [["verify", "--capture", join(FILES, "headers")], /no body was found.*--body/],
  [[...(USES.verify ?? []), "--at", "yesterday"], /date with a time zone/],
  [[...(USES.verify ?? []), "--at", "2026-01-01T10:00:00"], /date with a time zone/],
  [[...(USES.verify ?? []), "--at", "2026-02-30T10:00:00Z"], /date with a time zone/],
  [[...(USES.verify ?? []), "--tolerance", "5m"], /whole number/],
  [["send"], /event/],
  [["send", "", "--to", URL], /event must be a name/],
  [["send", "job.running", "--sign-anew", "--to", URL], /are for --capture/],
  [["listen", "--events", "job.success"], /did you mean job\.succeeded/],
  [["send", "job.running", "--to", "localhost:8080"], /--to must be an absolute URL/],
  [["send", "job.running"], /url of the receiver is missing/],
  [["send", "job.running", "--to", URL, "--data", "{"], /--data must hold JSON/],
  [["send", "job.running", "--to", URL, "--data", "@"], /--data names no file/],
  [["send", "job.running", "--to", URL, "--age", "600"], /a whole number with a unit/],
  [["send", "job.running", "--to", URL, "--repeat", "0"], /from 1 to 1000/],
  [["probe"], /url/],
  [["probe", "ftp://example.com"], /url must be an absolute URL/],
  [["probe", URL, "--wait", "9999"], /at most 3600/],
  [["probe", URL, "--secret-env", "OLD_SECRET"], /--secret-env .*Give it once/],
  [["probe", URL, "--secret-file", "old", "--secret-file", "new"], /--secret-file .*Give it once/],
  [["probe", URL, "--secret-file", "old"], /--secret-env and --secret-file both name secrets/],
  [["send", "job.running", "--to", URL, "--repeat", "2", "--repeat", "3"], /--repeat .*Give it once/],
  [["listen", "--any-event"], /--any-event is for .*--events/],
  [["verify", "--capture", "/dev/null"], /file of --capture is empty/],
  [["verify", "--capture", join(__dirname, "../../.npmrc")], /no body was found in the file of --capture/],
  [["listen", "--port", "70000"], /must be a port: a whole number from 0 to 65535/],
  [["listen", "--port", "many"], /must be a port/],
  [["listen", "--page", "70000"], /must be a port/],
  [["listen", "--port", "8080", "--forward-to", "http://localhost:8080/jobs"], /would forward to itself/],
  [["listen", "--forward-to", "127.0.0.1:3000"], /--forward-to must be an absolute URL/],
  [["listen", "--register", "https://user:word@example.com/"], /--register must not contain a user name/],
])("the wrong use %j is answered with one line", async (args, why) => {
  expectFailure(await run([...args, ...SOURCE], { env }), "WRONG_USE", why);
});

describe.each(uses)("%s", (_command, args) => {
  test("refuses a secret as an argument, and names the ways to give it", async () => {
    const ways = /--secret-env NAME, --secret-file PATH.*stack.*terminal/;
    expectFailure(await run([...args, "--secret", SECRET]), "SECRET_IN_ARGUMENT", ways);
    expectFailure(await run([...args, `--secret=${SECRET}`]), "SECRET_IN_ARGUMENT", ways);
    expectFailure(await run([...args, `--secrets=${SECRET}`]), "WRONG_USE");
  });

  test("asks for a secret in one line when none was given", async () => {
    expectFailure(await run(args), "SECRET_MISSING", /no signing secret was given\. Use --secret-env/);
  });

  test("answers a missing or unusable secret with one line that does not hold it", async () => {
    expectFailure(await run([...args, ...SOURCE]), "CONFIG_MISSING", /THE_SECRET is not set/);
    expectFailure(await run([...args, "--secret-env", SECRET]), "CONFIG_MISSING");
    expectFailure(await run([...args, "--secret-file", SECRET]), "CONFIG_MISSING");
    expectFailure(await run([...args, "--secret-file", "/nowhere"]), "CONFIG_MISSING", /\/nowhere.*ENOENT/);
    for (const [bad, why] of [
      [SECRET.slice(6), /does not begin with "whsec_"/],
      [SECRET.slice(0, -3), /cut off/],
      [`${SECRET}\n${SECRET.slice(0, 12)}…`, /secret 2 of 2/],
      ["[secret]", /masked/],
      [`{"secrets":["${SECRET}"]}`, /not created by receiverConfig/],
      [`{"secrets":["${SECRET}"`, /not the JSON/],
      [`{"jobsId":"${SECRET}"}`, /no output receiver; its outputs are: jobsId/],
    ] as const)
      expectFailure(
        await run([...args, ...SOURCE], { env: { THE_SECRET: bad } }),
        "CONFIG_INVALID|CONFIG_MISSING",
        why,
      );
  });

  test("answers a missing stack with one line", async () => {
    const missing = stackFolder({ error: `error: no stack named dev found, key ${SECRET}` });
    expectFailure(
      await run([...args, "--stack", "dev"], missing),
      "PULUMI_FAILED",
      /no stack named dev found/,
    );
    expectFailure(
      await run(args, missing),
      "SECRET_MISSING",
      /the stack in this folder has none: .*Use --secret-env/,
    );
    const other = stackFolder({ outputs: { url: "x" } });
    expectFailure(
      await run([...args, "--stack", "dev"], other),
      "CONFIG_MISSING",
      /no output receiver; its outputs are: url/,
    );
  });

  test("ends on Ctrl-C with status 130 while it waits for the stack", async () => {
    const { cwd, env: hanging } = stackFolder({ hangs: true });
    const started = start([...args, "--stack", "dev"], { cwd, env: hanging, detached: true });
    await started.untilTrue(() => processesOf(started.child, "sleep 60").length > 0);
    const { status, stdout, stderr } = await started.signal("SIGINT");
    expect([status, stdout, stderr]).toEqual([130, "", "error: Ctrl-C ended the command (INTERRUPTED)\n"]);
  });
});

test.each([
  ["send", (url: string) => ["send", "job.running", "--to", url]],
  ["probe", (url: string) => ["probe", url, "--wait", "60"]],
])("%s ends on Ctrl-C with status 130 while the receiver does not answer", async (_command, args) => {
  const { url, received } = await receiver("hang", "hang");
  const started = start([...args(url), ...SOURCE], { env });
  await started.untilTrue(() => received.length > 0);
  const { status, stdout, stderr } = await started.signal("SIGINT");
  expect([status, stdout, stderr]).toEqual([130, "", "error: Ctrl-C ended the command (INTERRUPTED)\n"]);
});

test.each([
  [
    ["verify", "--headers", "/nowhere", "--body", "/nowhere"],
    /\/nowhere of --headers cannot be read \(ENOENT\)/,
  ],
  [["verify", "--headers", "/dev/null", "--body", "/"], /\/ of --body cannot be read \(EISDIR\)/],
  [
    ["send", "job.running", "--to", URL, "--data", "@/nowhere"],
    /\/nowhere of --data cannot be read \(ENOENT\)/,
  ],
])("the unreadable file of %j is answered with one line", async (args, why) => {
  expectFailure(await run([...args, ...SOURCE], { env }), "FILE_UNREADABLE", why);
});

test.each([
  ["a plain secret", `${SECRET}\n`],
  [
    "a receiver's configuration",
    JSON.stringify({ version: 1, secrets: [SECRET], toleranceSeconds: 300, endpoints: {} }),
  ],
  [
    "a configuration that is a JSON string",
    JSON.stringify(JSON.stringify({ version: 1, secrets: [SECRET] })),
  ],
  ["all outputs of a stack", JSON.stringify({ jobsId: "wh_1", receiver: { version: 1, secrets: [SECRET] } })],
  [
    "the emulator's data file",
    JSON.stringify({
      version: 1,
      apiKey: API_KEY,
      secrets: { production: [SECRET], development: [SECRET] },
      accounts: {},
    }),
  ],
])("a secret can come from a file with %s", async (_what, content) => {
  const { url, received } = await receiver(200);
  const folder = makeFolder({ secret: content });
  expect(
    (await run(["send", "job.running", "--to", url, "--secret-file", join(folder, "secret")])).status,
  ).toBe(0);
  expect(received).toHaveLength(1);
});

/** Runs a command in a terminal that a person types into once it asks, and returns what the terminal showed. */
async function inTerminal(
  args: readonly string[],
  typed: string,
  { thinksForMs = 0 } = {},
): Promise<{ status: number; shown: string }> {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: makeFolder({}),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const shown = text(child.stdout);
  child.stdout.once("data", () => setTimeout(() => child.stdin.write(typed), thinksForMs));
  const [status] = await once(child, "close");
  return { status, shown: await shown };
}

test("in a terminal, a command asks for the secret and does not show it", async () => {
  const { url } = await receiver(200);
  const { status, shown } = await inTerminal(["send", "job.running", "--to", url], `${SECRET}\r`);
  expect(shown).toMatch(/^Signing secret \(whsec_…, not shown\): \r\njob\.running msg_\w+: 200/);
  expect([status, leaked(shown, [SECRET])]).toEqual([0, []]);
});

test("in a terminal, nothing is printed behind the question while a person looks for the secret", async () => {
  const { url } = await receiver(200);
  const { shown } = await inTerminal(["send", "job.running", "--to", url], `${SECRET}\r`, {
    thinksForMs: 1_500,
  });
  expect(shown).toMatch(/^Signing secret \(whsec_…, not shown\): \r\njob\.running msg_\w+: 200/);
});

test.each([
  [["check-service", "--url", URL], /Checking the service\. It has had \d+ requests…/],
  [["probe", "$TO", "--secret-file", "secret"], /Waiting for the receiver to answer…/],
  [
    ["send", "job.running", "--to", "$TO", "--secret-file", "secret"],
    /Waiting for the receiver: 0 of 1 answered\./,
  ],
])("in a terminal, %j says what it waits for when that takes longer than a second", async (args, shown) => {
  const { url } = await receiver("hang", "hang", "hang");
  const child = spawn("script", ["-qefc", [process.execPath, MAIN, ...args].join(" "), "/dev/null"], {
    cwd: makeFolder({ secret: SECRET }),
    env: { ...process.env, TO: url, WEBHOOKS_BASE_URL: url, WEBHOOKS_API_KEY: API_KEY },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    if (!shown.test(output) || output.includes("^C")) continue;
    // Ctrl-C.
    child.stdin.write("\u0003");
  }
  expect(output).toMatch(/\(INTERRUPTED\)/);
});

test("in a terminal, Ctrl-C and the end of the input end the question", async () => {
  const interrupted = await inTerminal(["probe", URL], "\u0003");
  expect([interrupted.status, interrupted.shown]).toEqual([
    130,
    expect.stringMatching(/: \r\nerror: .*\(INTERRUPTED\)\r\n$/),
  ]);
  const empty = await inTerminal(["probe", URL], "\r");
  expect([empty.status, empty.shown]).toEqual([
    1,
    expect.stringMatching(/holds no signing secret.*\(CONFIG_INVALID\)\r\n$/),
  ]);
});

test("the check for secrets in the output fails when there is one", async () => {
  const event = `job.${OTHER_SECRET.slice(6, 18)}`;
  const anyEvent = ["send", event, "--any-event"];
  await expect(run([...anyEvent, "--to", URL, ...SOURCE], { env })).rejects.toThrow(/part of a secret/);
});

test.each([
  "list",
  "doctor",
  "get wh_1",
  "delete wh_1",
  "prune --older-than 1s --yes",
  "adopt wh_1",
  "recover",
  "check-service --url https://a.example.com --yes",
])(
  "%s refuses a stack of another project: this folder has the settings of its own project's stack of that name",
  async (command) => {
    const { url } = await receiver(200);
    const config = { "webhooks:baseUrl": url, "webhooks:apiKey": API_KEY };
    const { cwd, env: found } = stackFolder({ config });
    const refused = expect.stringMatching(
      /stack organization\/bill\/dev is of another project .*\(WRONG_USE\)\n$/,
    );
    const args = command.split(" ");
    const named = await run([...args, "--stack", "organization/bill/dev"], { cwd, env: found });
    expect([named.status, named.stdout, named.stderr]).toEqual([1, "", refused]);
    for (const name of ["PULUMI_OPTION_STACK", "PULUMI_STACK"]) {
      const { status, stderr } = await run(args, { cwd, env: { ...found, [name]: "organization/bill/dev" } });
      expect([status, stderr]).toEqual([1, refused]);
    }
    const own = await run([...args, "--stack", "organization/test/dev"], { cwd, env: found });
    expect(own.stderr).not.toContain("WRONG_USE");
  },
);

test("a key that was passed to --stack is not repeated", async () => {
  const unknown = stackFolder({ error: `error: no stack named "${API_KEY}" found` });
  for (const command of ["list", "doctor"]) {
    const { status, stdout, stderr } = await run([command, "--stack", API_KEY], unknown);
    expect(status).toBe(1);
    expect(stdout + stderr).toContain('no stack named "…" found');
  }
});

test.each([
  ["doctor"],
  ["check-service", "--url", URL, "--yes"],
  ["listen", ...SOURCE, "--register", URL],
  ["list"],
])("with showResponses, %s shows what the service answered to a request that it refused", async (...args) => {
  const emulator = await startEmulator({ apiKey: API_KEY });
  const body = '{"reason":"the plan allows no more endpoints"}';
  emulator.fault({ operation: "list", kind: "status", status: 422, body, times: Number.POSITIVE_INFINITY });
  const settings = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY };
  const hidden = await run(args, { env: { ...env, ...settings } });
  const shown = await run(args, { env: { ...env, ...settings, WEBHOOKS_SHOW_RESPONSES: "true" } });
  await emulator.close();
  expect(hidden.stderr).not.toContain("the plan allows no more");
  expect(shown.stderr).toContain("the plan allows no more endpoints");
});

test("no command prints a signing secret that it does not know, from the url of an endpoint", async () => {
  const emulator = await startEmulator({ apiKey: API_KEY });
  emulator.add({ url: `https://hooks.example.com/?secret=${newSecret()}`, type: "production" });
  const settings = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY };
  for (const args of [["list"], ["list", "--json"], ["adopt"]]) {
    const { stdout, stderr } = await run(args, { env: settings });
    expect(stdout + stderr).not.toMatch(/whsec_\w/);
  }
  await emulator.close();
});
