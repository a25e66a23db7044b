import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archiveName, checkInstalled, checkRelease } from "../../scripts/rehearse/checks";
import { codeOf, commandsOf, sectionOf } from "../../scripts/rehearse/pages";
import { commandsOfJob } from "../../scripts/rehearse/workflow";

// `npm run rehearse` itself runs in .ci/run. These are the mistakes that it must find.

const folder = mkdtempSync(join(tmpdir(), "rehearse-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const root = join(__dirname, "../..");
const release = { version: "1.2.3", repository: "owner/name" };

/** Writes the files that the CLI looks for in a release. */
function makeRelease(name: string, schema: object): string {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, archiveName(release.version)), "");
  writeFileSync(join(place, "schema.json"), JSON.stringify(schema));
  return place;
}

const schema = { pluginDownloadURL: "github://api.github.com/owner/name" };

test("a release is refused if its archive has another name, or its schema names no or another repository", () => {
  const right = makeRelease("right", schema);
  expect(() => checkRelease(right, release)).not.toThrow();
  expect(() => checkRelease(makeRelease("none", {}), release)).toThrow(/pluginDownloadURL .* is undefined/);
  expect(() => checkRelease(right, { ...release, repository: "fork/name" })).toThrow(/pluginDownloadURL/);
  renameSync(join(right, archiveName(release.version)), join(right, "pulumi-resource-webhooks-v1.2.3.tgz"));
  expect(() => checkRelease(right, release)).toThrow(`there is no ${archiveName(release.version)}`);
});

test("a package is refused if it lacks a file that its package.json names, at any depth", () => {
  const place = join(folder, "package");
  mkdirSync(place);
  const exports = { ".": { types: "./index.d.ts", default: "./index.js" } };
  writeFileSync(
    join(place, "package.json"),
    JSON.stringify({ exports, bin: { it: "bin.js" }, files: ["docs"] }),
  );
  for (const name of ["index.d.ts", "bin.js", "docs"]) writeFileSync(join(place, name), "");
  expect(() => checkInstalled(place)).toThrow("the package lacks ./index.js");
  writeFileSync(join(place, "index.js"), "");
  expect(() => checkInstalled(place)).not.toThrow();
});

test.each([
  ["build", "publish", 0, /npm pkg set .*npm pack .*plugin\.js .*tar -cf release\.tar .*GITHUB_OUTPUT/s],
  ["publish", "site", 1, /sha256sum --check .*gh release create .*npm publish .*gh release edit /s],
])(
  "the rehearsal runs each command of the job %s, but for one that needs a registry",
  (name, next, left, order) => {
    const workflow = readFileSync(join(root, ".github/workflows/release.yml"), "utf8");
    const job = workflow.split(`\n  ${name}:\n`)[1]?.split(`\n  ${next}:\n`)[0] ?? "";
    const commands = commandsOfJob(name);
    expect(commands).toHaveLength((job.match(/^ +(- )?run: /gm) ?? []).length - left);
    expect(commands.join("\n")).toMatch(order);
  },
);

test("the rehearsal finds what it types in the pages", () => {
  const read = (name: string) => readFileSync(join(root, name), "utf8");
  const readme = read("README.md");
  expect(codeOf(readme, "ts")).toContain("new WebhookEndpoint(");
  expect(commandsOf(sectionOf(readme, "Quick start"))[0]).toMatch(/^npm install pulumi-webhook-endpoints /);
  expect(() => sectionOf(readme, "Nothing")).toThrow('no section "Nothing"');
  const [get, add] = commandsOf(sectionOf(read("docs/other-languages.md"), "Install the plugin"));
  expect([get, add]).toEqual([
    expect.stringMatching(/^curl .*schema\.json$/),
    "pulumi package add schema.json",
  ]);
});
