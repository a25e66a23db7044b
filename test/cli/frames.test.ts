import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { webhookEndpoints } from "../../src/cli/webhookEndpoints";
import { root } from "../package/pages";
import { cleanUp, run } from "./commandLine";

afterEach(cleanUp);

const PAGE = join(root, "docs/command.md");
const FRAME = /```text\nUsage: .*?^```$/ms;
const names = webhookEndpoints().commands.map((command) => command.name());

/** Returns the frame of a subcommand: its help, but for the description and the examples, which the page has in its own words. */
async function frameOf(name: string): Promise<string> {
  const { stdout } = await run([name, "--help"]);
  const [usage, , ...rest] = (stdout.split("\nExamples:")[0] ?? "").trim().split("\n\n");
  return `\`\`\`text\n${[usage, ...rest].join("\n\n")}\n\`\`\``;
}

// `UPDATE_DOCS=1 npx jest test/cli/frames` writes the frames into the page.
test.each(names)(
  "the page of the command has a section about %s with its synopsis, options and exit statuses",
  async (name) => {
    const page = readFileSync(PAGE, "utf8");
    const [section = ""] = new RegExp(`^## ${name}\n.*?(?=^## |$(?![^]))`, "ms").exec(page) ?? [];
    const frame = await frameOf(name);
    if (process.env.UPDATE_DOCS && section !== "") {
      const updated = FRAME.test(section)
        ? section.replace(FRAME, () => frame)
        : `${section.trimEnd()}\n\n${frame}\n\n`;
      writeFileSync(PAGE, `${page.replace(section, () => updated).trimEnd()}\n`);
    } else expect(FRAME.exec(section)?.[0]).toBe(frame);
  },
);

test("the page of the command has its subcommands in alphabetical order, in the table and as sections", () => {
  const page = readFileSync(PAGE, "utf8");
  const listed = [...page.matchAll(/^\| \[`([\w-]+)`\]\(#/gm)].map(([, name]) => name);
  const sections = [...page.matchAll(/^## ([\w-]+)$/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => names.includes(name));
  expect(listed).toEqual([...names].sort());
  expect(sections).toEqual(listed);
});
