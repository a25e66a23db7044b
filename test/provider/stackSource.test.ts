import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type StackPlace, StackSource } from "../../src/provider/facts/stackSource";
import { ROOT_URN } from "./engineModel";

const folder = mkdtempSync(join(tmpdir(), "webhooks-state-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { PATH: [folder, process.env.PATH].join(delimiter), PULUMI_OPTION_CWD: "elsewhere" };

/** A stack through a command `pulumi` of Node, which Windows finds as npm writes one, and which writes down how it was called. */
function sourceOf(script: string, place: StackPlace = {}): StackSource {
  const text = `#!/usr/bin/env node
    const args = process.argv.slice(2);
    const call = \`\${args.join(" ")} [\${process.env.PULUMI_OPTION_CWD}] in \${process.cwd()}\\n\`;
    require("node:fs").appendFileSync(${JSON.stringify(join(folder, "calls"))}, call);
    ${script}`;
  for (const name of ["pulumi", "pulumi.js"]) writeFileSync(join(folder, name), text, { mode: 0o700 });
  writeFileSync(join(folder, "pulumi.cmd"), '@node "%~dp0\\pulumi.js" %*');
  writeFileSync(join(folder, "calls"), "");
  return new StackSource(ROOT_URN, place, { environment });
}
const read = (script: string, place?: StackPlace) => sourceOf(script, place).read("dev");
const print = (deployment: object | null) => `console.log('${JSON.stringify({ version: 3, deployment })}');`;
const root = { urn: ROOT_URN, type: "pulumi:pulumi:Stack" };
const printed = print({ resources: [root] });
const howItWasCalled = () => readFileSync(join(folder, "calls"), "utf8");

test("the state is what `pulumi stack export` prints in the project's folder", async () => {
  expect(await read(printed, { rootDirectory: folder })).toEqual({
    resources: [root],
    pending_operations: [],
  });
  expect(howItWasCalled()).toMatch(/^stack export --stack dev .*\[\] in /);
  expect(howItWasCalled()).toContain(`in ${realpathSync(folder)}\n`);
});

test.each([
  ["nothing", {}],
  ["null for its resources", { resources: null, pending_operations: null }],
  ["null for all", null],
])("a state that has %s is empty", async (_, deployment) => {
  expect(await read(print(deployment))).toEqual({ resources: [], pending_operations: [] });
});

test("without a root directory, the project's folder is the nearest one above with a project file, and without that the current one", async () => {
  // What the language host of an inline program, or an old one, says.
  const place = { rootDirectory: "rootDirectory" };
  const src = join(folder, "project", "src");
  mkdirSync(src, { recursive: true });
  const cwd = jest.spyOn(process, "cwd").mockReturnValue(src);
  try {
    await read(printed, place);
    expect(howItWasCalled()).toContain(`in ${realpathSync(src)}\n`);
    writeFileSync(join(folder, "project", "Pulumi.yml"), "");
    await read(printed, place);
    expect(howItWasCalled()).toContain(`in ${realpathSync(join(folder, "project"))}\n`);
  } finally {
    cwd.mockRestore();
  }
});

test("a backend without projects, which takes no full name, is asked for the plain one; a named organization never is", async () => {
  const refusal = 'console.error("error: a stack name may only contain …"); process.exitCode = 1;';
  const plainOnly = `if (/\\//.test(args.join())) { ${refusal} } else { ${printed} }`;
  const readAs = (organization: string) =>
    sourceOf(plainOnly, { organization }).read(`${organization}/test/dev`);
  expect((await readAs("organization")).resources).toHaveLength(1);
  await expect(readAs("acme")).rejects.toThrow("a stack name may only contain …");
});

test.each([
  [
    "a command that fails",
    'console.error("warning: x\\nerror: no https://u:t0ken@host/"); process.exitCode = 3;',
    "`pulumi stack export --stack dev` failed: no https://…@host/",
  ],
  ["output that is not JSON", "console.log('hello');", /failed: hello/],
  ["another stack", print({ resources: [{ ...root, urn: "urn:other" }] }), /printed another stack/],
])("%s is an error", async (_, script, message) => {
  await expect(read(script)).rejects.toThrow(message);
});

test("without pulumi on PATH the state cannot be read", async () => {
  const source = new StackSource(ROOT_URN, {}, { environment: { PATH: "/nowhere" } });
  for (const call of [source.name(), source.read("dev")])
    await expect(call).rejects.toMatchObject({ code: "ENOENT" });
});

test("a stack whose organization the program knows is named in full, without a question", async () => {
  expect(await sourceOf("", { organization: "acme" }).name()).toBe("acme/test/dev");
  expect(howItWasCalled()).toBe("");
});

/** Lists stacks, by their full names: + is one that an update works on, and - one in Pulumi Cloud that none works on. */
const list = (line: string) => {
  const rows = line.split(" ").filter(Boolean);
  const listed = rows.map((each) => ({
    name: each.replace(/[+-]/, ""),
    ...(/^[+-]/.test(each) && { updateInProgress: each.startsWith("+") }),
  }));
  return `console.log('${JSON.stringify(listed)}');`;
};
const OTHERS = "+acme/test/prod +acme/mytest/dev +acme/other/dev";

test.each([
  ["", "dev"],
  ["organization/test/dev organization/test/prod", "organization/test/dev"],
  ["dev prod", "dev"], // a backend without projects
  [`-acme/test/dev ${OTHERS}`, "acme/test/dev"],
  [`+acme/test/dev -tester/test/dev ${OTHERS}`, "acme/test/dev"],
  [`-acme/test/dev +tester/test/dev ${OTHERS}`, "tester/test/dev"],
  [`-acme/test/dev -tester/test/dev ${OTHERS}`, undefined],
  ["+acme/test/dev +tester/test/dev", undefined],
])("where nobody says the organization, and there are %j, the stack is %s", async (line, name) => {
  const found = sourceOf(list(line)).name();
  if (name === undefined)
    await expect(found).rejects.toThrow(
      /acme\/test\/dev or tester\/test\/dev, and no update under way shows which/,
    );
  else expect(await found).toBe(name);
  expect(howItWasCalled()).toMatch(/^stack ls --project test --json --fully-qualify-stack-names /);
});

test("a list that cannot be read says nothing", async () => {
  for (const script of ["process.exitCode = 1;", "console.log('{}');", "console.log('[null, 1, {}]');"]) {
    expect(await sourceOf(script).name()).toBe("dev");
    expect(await sourceOf(script).isRunning("dev")).toBe(false);
  }
});

test.each([
  ["acme/test/dev", {}, true],
  ["acme/test/dev +tester/test/dev", {}, false],
  ["+acme/test/dev", {}, true],
  ["+acme/test/dev -tester/test/dev", {}, true],
  ["+acme/test/dev +tester/test/dev", {}, false],
  ["+acme/test/dev +tester/test/dev", { organization: "acme" }, true],
  ["-acme/test/dev +tester/test/dev", { organization: "acme" }, false],
])(
  "with %j and %j, an update shows that acme/test/dev is the run's stack: %s",
  async (line, place, isRunning) => {
    expect(await sourceOf(list(line), place).isRunning("acme/test/dev")).toBe(
      isRunning && line.startsWith("+"),
    );
  },
);

const ROOT = folder;
test.each<[backend: string | undefined, StackPlace, boolean]>([
  [undefined, {}, false],
  [undefined, { rootDirectory: ROOT }, false],
  [undefined, { rootDirectory: ROOT, organization: "organization" }, false],
  [undefined, { rootDirectory: ROOT, organization: "acme" }, true],
  [undefined, { rootDirectory: "rootDirectory", organization: "acme" }, false],
  ["file://./state", { rootDirectory: ROOT, organization: "organization" }, false],
  ["file://.", {}, false],
  ["file:///srv/state", {}, true],
  ["file://~", {}, true],
  ["s3://state?region=eu", {}, true],
  // A url of Pulumi Cloud names a backend, and no stack in it.
  ["https://api.pulumi.com", {}, false],
  ["https://api.pulumi.com", { organization: "acme" }, true],
])("with PULUMI_BACKEND_URL %s and %j, the stack can only be the run's: %s", (backend, place, isCertain) => {
  const command = { environment: { PULUMI_BACKEND_URL: backend } };
  expect(new StackSource(ROOT_URN, place, command).isCertain()).toBe(isCertain);
});
