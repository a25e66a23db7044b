import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { EmulatedEvent } from "../../../src/emulator";
import { verify } from "../../../src/signature";
import { receiver } from "../receiver";
import { folder, HOOK, started } from "../support";
import { readPage, visit } from "./visit";

/** A curl that prints its arguments and its input as a line of JSON. */
const FAKE_CURL = `curl() {
  node -e '
    const stdin = process.argv.includes("@-") ? require("fs").readFileSync(0).toString("base64") : null;
    console.log(JSON.stringify({ args: process.argv.slice(1), stdin }));
  ' -- "$@"
}
`;

async function runScript(script: string) {
  const path = join(await folder(), "script.sh");
  await writeFile(path, script);
  return promisify(execFile)("sh", [path], { maxBuffer: 4e6 });
}

async function captured(event: EmulatedEvent, query = "") {
  const { url } = await receiver();
  const emulator = await started();
  emulator.add({ ...HOOK, url: `${url}${query}` });
  await emulator.deliver(event);
  const capture = (name: string) => visit(emulator, `/_emulator/attempts/1/${name}`);
  return { emulator, capture, url: `${url}${query}`, sent: emulator.deliveries[0] };
}

test.each<[string, string]>([
  ["plain JSON", '{"type":"job.running","data":{"jobId":"job_1"}}'],
  ["quotes and shell characters", `{"a":"it's $HOME \`id\` $(id) \\\\ !! \\"x\\""}`],
  ["a backslash before a quote, which ends no string in fish", "\\'; id #"],
  ["line feeds", "one\n\n two\n"],
  ["a name of a file, as curl reads it", "@/etc/hostname"],
  ["nothing", ""],
  ["letters of every alphabet", "é 日本 🎉"],
  ["control characters", "a\u0000b\r\n\u001b[201~; id\n"],
  ["a tab, which a terminal completes", "a\tb"],
  ["invisible letters", "a\u202eb\u200d"],
  ["more than an argument holds", "x".repeat(300_000)],
])("as curl, a delivery of %s repeats the url, the headers and the bytes", async (_, body) => {
  const { capture, url, sent } = await captured({ type: "job.running", body }, "?a=[1-2]&b='{x,y}'");
  const { status, headers, body: command } = await capture("curl");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(command).not.toMatch(/[^\P{C}\n]/u);
  // In fish, a backslash in single quotes escapes.
  for (const token of command.match(/'[^']*'|\\./gs) ?? []) expect(token).not.toMatch(/^'.*\\/s);
  const { stdout } = await runScript(FAKE_CURL + command);
  const { args, stdin } = JSON.parse(stdout) as { args: string[]; stdin: string | null };
  const after = (name: string) => args.flatMap((arg, index) => (args[index - 1] === name ? [arg] : []));
  expect(args[0]).toBe("--globoff");
  expect(after("--url")).toEqual([new URL(url).href]);
  expect(after("--header")).toEqual([
    "content-type: application/json",
    ...Object.entries(sent?.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ]);
  const repeated = stdin === null ? after("--data-raw")[0] : Buffer.from(stdin, "base64").toString("utf8");
  expect(repeated).toBe(body);
});

test("a saved delivery has everything that verifies it, in the form of `listen --save`", async () => {
  const { emulator, capture, sent } = await captured({
    type: "job.running",
    body: '{"n":1.0, "é":"\\u0041"}\n',
  });
  const { headers, body } = await capture("capture");
  expect(headers["content-disposition"]).toBe(`attachment; filename="${sent?.id}-1.json"`);
  expect(headers).toMatchObject({ "content-type": "application/json", "x-content-type-options": "nosniff" });
  const saved = JSON.parse(body);
  expect(verify(saved.body, saved.headers, emulator.secrets())).toBe(true);
  expect(saved).toEqual({
    receivedAt: new Date(sent?.at ?? 0).toISOString(),
    headers: [["content-type", "application/json"], ...Object.entries(sent?.headers ?? {})],
    body: sent?.body,
    isBase64Encoded: false,
  });
});

test("a hostile id does not get into the name of a file, nor a body into markup", async () => {
  const id = `";filename=x/\\<b>'`;
  const { capture, emulator } = await captured({
    type: "job.running",
    id,
    body: "<script>alert(1)</script>",
  });
  const disposition = (await capture("capture")).headers["content-disposition"];
  expect(disposition).toMatch(/^attachment; filename="[\w-]+\.json"$/);
  const text = await capture("body");
  expect([text.headers["content-type"], text.body]).toEqual([
    "text/plain; charset=utf-8",
    "<script>alert(1)</script>",
  ]);
  expect((await readPage(emulator)).includes("filename=x")).toBe(true);
});

test.each(["attempts/2/curl", "attempts/1/other", "attempts/x/curl", "attempts/1/__proto__", "attempts/1/"])(
  "%s is not there",
  async (path) => {
    const { emulator } = await captured({ type: "job.running" });
    expect((await visit(emulator, `/_emulator/${path}`)).status).toBe(404);
  },
);
