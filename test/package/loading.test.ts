import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

const root = resolve(__dirname, "../..");

/** Returns the files that a separate process loads for these subpaths of the built package; "" is its main entry point. */
function filesLoadedFor(...subpaths: string[]): string[] {
  const names = subpaths.map((subpath) => join("pulumi-webhook-endpoints", subpath));
  const script = `
    for (const name of ${JSON.stringify(names)}) require(name);
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));
  `;
  return JSON.parse(execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" }));
}

const receiver = [
  "receiver",
  "receiver/node",
  "receiver/fetch",
  "receiver/fastify",
  "receiver/lambda",
  "receiver/queues",
];

test.each([...receiver, "signature"])(
  "./%s loads only itself, the files that every folder shares, and Node",
  (subpath) => {
    const files = filesLoadedFor(subpath).map((file) => relative(root, file).split(sep).join("/"));
    expect(files).toContainEqual(expect.stringMatching(`^dist/${subpath.split("/")[0]}/`));
    expect(
      files.filter(
        (file) => !/^dist\/(receiver\/|signature\/|shared\/(codedError|json|knownOptions)\.js$)/.test(file),
      ),
    ).toEqual([]);
  },
);

test.each(receiver)("a receiver that uses ./%s loads little JavaScript in all", (subpath) => {
  const files = filesLoadedFor("receiver", subpath);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(bytes).toBeGreaterThan(0);
  // A worker loads what a receiver does, apart from the adapters, and the converters and the envelopes of all queues.
  expect(bytes).toBeLessThan(subpath === "receiver/queues" ? 64_000 : 55 * 1024);
});

test("a program loads undici only when it asks the service something", () => {
  const loadsUndici = (...subpaths: string[]) =>
    filesLoadedFor(...subpaths).some((file) => file.includes(`${sep}node_modules${sep}undici${sep}`));
  expect(loadsUndici("")).toBe(false);
  expect(loadsUndici("", "client")).toBe(true);
});
