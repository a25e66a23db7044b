import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADVICE } from "../../src/cli/verify/advice";
import { type Emulator, startEmulator } from "../../src/emulator";
import { createReceiver } from "../../src/receiver";
import { sign } from "../../src/signature";
import { commandsOf, read } from "../package/pages";
import { type Served, serve } from "../stack/support";
import { API_KEY, cleanUp, run, SECRET, stackFolder, start } from "./commandLine";

const page = read("docs/command.md");
const mismatchPage = read("docs/signature-mismatch.md");
const sectionOf = (name: string) => page.split(`\n## ${name}\n`)[1]?.split("\n## ")[0] ?? "";

let emulator: Emulator;
let served: Served;
beforeEach(async () => {
  emulator = await startEmulator({ apiKey: API_KEY });
  served = await serve(createReceiver({ secrets: SECRET, handlers: {}, onRejected: () => {} }));
});
afterEach(async () => {
  await cleanUp();
  await served.close();
  await emulator.close();
});

/** Makes the folder in which the page's examples run. */
function folder() {
  const endpoints = { jobs: { id: "wh_1", url: served.url, type: "development" } };
  const made = stackFolder({
    outputs: { receiver: { version: 1, secrets: [SECRET], toleranceSeconds: 300, endpoints } },
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY },
  });
  const body = '{"type":"job.running"}';
  const timestamp = Date.parse("2026-11-21T09:30:00Z") / 1000;
  const headers = Object.entries(sign({ id: "msg_1", timestamp, body, secret: SECRET }));
  writeFileSync(
    join(made.cwd, "headers.txt"),
    headers.map(([name, value]) => `${name}: ${value}\n`).join(""),
  );
  writeFileSync(join(made.cwd, "body.json"), body);
  const now = Math.floor(Date.now() / 1000);
  const capture = { headers: sign({ id: "msg_1", timestamp: now, body, secret: SECRET }), body };
  writeFileSync(join(made.cwd, "capture.json"), JSON.stringify(capture));
  return { ...made, env: { ...made.env, WEBHOOK_SECRET: SECRET } };
}

/** Splits a command of the page into its arguments, with the ports and the url of this machine. A file for `-` is named. */
function argumentsOf(command: string): string[] {
  const words = command.replace(/ - (.*) < (\S+)$/, " $2 $1").match(/'[^']*'|\S+/g) ?? [];
  return words.slice(2).map((word) =>
    word
      .replaceAll("'", "")
      .replace("http://127.0.0.1:8080/jobs", served.url)
      .replace(/^8080$/, "0"),
  );
}

const commands = (name: string) => commandsOf(sectionOf(name)).map((command) => [command]);

test.each([...commands("probe"), ...commands("send")])("the page's example works: %s", async (command) => {
  expect(await run(argumentsOf(command), folder())).toMatchObject({ status: 0, stderr: "" });
});

test.each(commands("verify"))("the page's example works: %s", async (command) => {
  expect(await run(argumentsOf(command), folder())).toMatchObject({ status: 0 });
});

test.each(commands("listen"))("the page's example works: %s", async (command) => {
  const started = start(argumentsOf(command), folder());
  await started.until(/^http:\/\/127\.0\.0\.1:\d+$/m);
  expect((await started.signal("SIGINT")).status).toBe(0);
  expect(emulator.endpoints()).toEqual([]);
});

test("the page has every command in its sections and every reason of verify", () => {
  expect(["listen", "probe", "send", "verify"].map((name) => commands(name).length)).toEqual([6, 2, 7, 3]);
  const known = `${sectionOf("verify")}${mismatchPage}`;
  expect(Object.keys(ADVICE).filter((reason) => !known.includes(`\`${reason}\``))).toEqual([]);
});

test("the page lists exactly the codes of doctor's findings", () => {
  const rows = [...sectionOf("doctor").matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)];
  const [, union = ""] = /type FindingCode =(.*?);/s.exec(read("src/cli/doctor/finding.ts")) ?? [];
  const codes = [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => `\`${code}\``);
  expect(codes.length).toBeGreaterThan(10);
  expect(rows.flatMap(([, listed = ""]) => listed.split(", ")).sort()).toEqual(codes.sort());
});

test("the page of mismatches points to verify", () => {
  expect(mismatchPage).toContain("[`npx pulumi-webhook-endpoints verify`](command.md#verify)");
});
