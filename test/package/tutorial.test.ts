import { rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { PulumiCloud } from "../engine/cloud/pulumiCloud";
import { Project } from "../engine/project";
import { read } from "./pages";
import { fakeNpm, freePort, Terminal } from "./terminal";

jest.setTimeout(600_000);

/** What a reader does: saves a file, or adds to it; types commands; compares what they print; types into the emulator. */
const STEPS =
  /^(?<verb>Save|Add) this (?:as|to the end of) `(?<file>[\w.]+)`[^\n]*\n\n```\w+\n(?<text>.*?)^```$|^```sh\n(?<commands>.*?)^```$|^```text\n(?<shown>.*?)^```$|emulator's terminal, (?:type|press) `?(?<line>rotate|finish|Enter)|(?<config>Run these three commands)/gms;
/** The project has its packages, its folder and its CLI. */
const DONE = /^(mkdir|cd|export) /;

// The page keeps the state in a folder, as the quick start does, whose test is on one. It says that the same commands work in Pulumi Cloud.
let cloud: PulumiCloud;
let project: Project;
const terminals: Terminal[] = [];
beforeAll(async () => {
  cloud = await PulumiCloud.start();
  project = new Project({ cloud });
});
afterAll(async () => {
  for (const terminal of terminals) await terminal.end();
  project.dispose();
  await cloud.stop();
});

test("every step of the tutorial works as it is printed, in Pulumi Cloud", async () => {
  const [service, receiver] = [await freePort(), await freePort()];
  const here = (text: string) =>
    text
      .replaceAll("8787", `${service}`)
      .replaceAll("8080", `${receiver}`)
      .replace(/ emulator$/m, ` emulator --port ${service}`);
  rmSync(join(project.folder, "index.js")); // the tutorial begins with an empty folder
  const path = [fakeNpm(project).bin, project.env.PATH].join(delimiter);
  const env = { ...project.env, PATH: path };
  const options = { cwd: project.folder, env };
  for (let opened = 0; opened < 3; opened++) terminals.push(new Terminal(options));
  const [first, emulator, receiving] = terminals;
  if (first === undefined || emulator === undefined || receiving === undefined) return;

  const files: Record<string, string> = {};
  let newSecret = "";
  let failure: string | undefined;
  let output = "";
  const run = async (command: string) => {
    expect(failure).toBeUndefined();
    if (DONE.test(command)) return;
    if (/ emulator /.test(command)) {
      emulator.start(command);
      await emulator.until(/signingSecret whsec_\S+/);
    } else if (/^node /.test(command)) receiving.start(command);
    else {
      const ended = await first.run(command, newSecret);
      output = ended.output;
      failure = ended.hasFailed ? `${command}: ${output}` : undefined;
    }
  };
  const compare = async (line: string) => {
    const pattern = new RegExp(
      here(line)
        .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
        .replace("…", "\\w+"),
    );
    if (line.includes("is done")) await receiving.until(pattern);
    else expect(output).toMatch(pattern);
    if (/\([A-Z_]+\)/.test(line)) failure = undefined;
  };
  const typeInto = async (line: string) => {
    emulator.type(line === "Enter" ? "" : line);
    if (line === "rotate") [, newSecret = ""] = await emulator.until(/also signs with (\S+)/);
    if (line === "finish") await emulator.until(/now signs only with/);
  };

  for (const { groups = {} } of read("docs/tutorial.md").matchAll(STEPS)) {
    const { verb, file = "", text = "", commands, shown, line, config } = groups;
    if (verb !== undefined) {
      files[file] = verb === "Save" ? text : `${files[file]}${text}`;
      project.write(file, here(files[file]));
    }
    for (const command of commands?.trim().split("\n") ?? []) await run(here(command));
    for (const each of shown?.trim().split("\n") ?? []) await compare(each);
    if (line !== undefined) await typeInto(line);
    if (config !== undefined)
      for (const command of emulator.printed.match(/pulumi config set .*/g) ?? []) await run(command);
  }
  expect(failure).toBeUndefined();
  expect(output).toContain("There are no endpoints.");
});
