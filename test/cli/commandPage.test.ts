import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/commands";
import { sign } from "../../src/signature";
import { commandsOf, read } from "../package/pages";
import type { Served } from "../stack/support";
import { fakePulumi, makeFolder, receiverOutput, run, SECRET, serveReceiver } from "./running";

const page = read("docs/command.md");
const sectionOf = (name: string) => page.split(`\n## ${name}\n`)[1]?.split("\n## ")[0] ?? "";

let served: Served;
let folder: string;
beforeEach(async () => {
  served = await serveReceiver();
  const body = '{"type":"job.running"}';
  const headers = sign({ id: "msg_1", timestamp: Math.floor(Date.now() / 1000), body, secret: SECRET });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  folder = makeFolder({ "request.txt": `${lines.join("")}\n${body}` });
  writeFileSync(join(folder, "capture.json"), JSON.stringify({ headers, body }));
});
afterEach(() => served.close());

/** Splits a command of the page into its arguments, with the url and the files of this test. */
function argumentsOf(command: string): string[] {
  const [, ...words] = command.match(/'[^']*'|\S+/g) ?? [];
  return words.slice(1).map((word) =>
    word
      .replaceAll("'", "")
      .replace("http://127.0.0.1:8080/jobs", served.url)
      .replace(/^(capture\.json|request\.txt)$/, join(folder, "$1")),
  );
}

const examples = ["probe", "send", "verify"].flatMap((name) => commandsOf(sectionOf(name)));

test.each(examples)("the page's example works: %s", async (command) => {
  const pulumi = fakePulumi({ outputs: { receiver: receiverOutput([SECRET]) } });
  expect(await run(argumentsOf(command), { pulumi })).toMatchObject({ status: 0, stderr: "" });
});

test.each(Object.keys(COMMANDS))(
  "the section of %s has every option of its own, and no other",
  async (name) => {
    const section = sectionOf(name).replace(/^ *pulumi .*|`pulumi [^`]*`/gm, "");
    const own = (await COMMANDS[name]?.())?.options.map(({ long }) => long ?? "") ?? [];
    const common = ["--stack", "--json", "--yes"];
    const named = new Set(section.match(/(?<=[`\s])--[a-z][a-z-]*/g));
    for (const option of own) if (!common.includes(option)) expect(named).toContain(option);
    const subcommands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
    const elsewhere = subcommands.flatMap(({ options }) => options.map(({ long }) => long));
    for (const option of named) expect([...elsewhere, ...common]).toContain(option);
  },
);

test("the page lists every subcommand, and has the examples that this test runs", () => {
  expect(examples.length).toBeGreaterThanOrEqual(6);
  for (const name of Object.keys(COMMANDS)) expect(page).toContain(`| [\`${name}\`](#${name}) | `);
});
