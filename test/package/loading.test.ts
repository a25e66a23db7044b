import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { root } from "./pages";

/** The most JavaScript that a receiver loads with one adapter, in bytes. */
const MOST_BYTES = 55 * 1024;
/** The same with the envelopes and the worker of all queues. */
const MOST_BYTES_WITH_QUEUES = 64_000;

/** Returns the files that a separate process loads for these subpaths of the built package; "" is its main entry point. */
function filesLoadedFor(...subpaths: string[]): string[] {
  const names = subpaths.map((subpath) => join("pulumi-webhook-endpoints", subpath));
  const script = `
    for (const name of ${JSON.stringify(names)}) require(name);
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));
  `;
  return JSON.parse(execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" }));
}

const adapters = ["receiver/node", "receiver/fetch", "receiver/fastify", "receiver/lambda"];
const rooms: readonly [subpath: string, loaded: string][] = [
  ["signature", "dist/(signature|shared)"],
  ...["receiver", "receiver/queues", ...adapters].map((subpath): [string, string] => [
    subpath,
    "dist/(receiver|signature|shared)",
  ]),
  ["stack", "dist/(stack|receiver|signature|shared)"],
  ["client", "dist/(client|shared)|node_modules/undici"],
  ["validation", "dist/(validation|signature|shared)|node_modules/undici"],
];

test.each(rooms)("./%s loads only files below %s, and Node", (subpath, loaded) => {
  const files = filesLoadedFor(subpath).map((file) => relative(root, file).split(sep).join("/"));
  expect(files).toContainEqual(expect.stringMatching(`^dist/${subpath.split("/")[0]}/`));
  const allowed = new RegExp(`^(${loaded})/|^package.json$`);
  expect(files.filter((file) => !allowed.test(file))).toEqual([]);
});

test.each([
  ["receiver", MOST_BYTES],
  ...adapters.map((adapter): [string, number] => [adapter, MOST_BYTES]),
  ["receiver/queues", MOST_BYTES_WITH_QUEUES],
] as [string, number][])("a receiver that uses ./%s loads at most %i bytes", (subpath, most) => {
  const files = filesLoadedFor("receiver", subpath);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(most);
});

test("a program loads undici only when it asks the service something", () => {
  const loadsUndici = (...subpaths: string[]) =>
    filesLoadedFor(...subpaths).some((file) => file.includes(`${sep}node_modules${sep}undici${sep}`));
  expect(loadsUndici("")).toBe(false);
  expect(loadsUndici("", "client")).toBe(true);
});
