import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { read, root } from "./pages";

/** The most JavaScript that a receiver loads with one adapter, in bytes. */
const MOST_BYTES = 40 * 1024;
/** The same with the envelopes and the worker of all queues. */
const MOST_BYTES_WITH_QUEUES = 46 * 1024;

const FORMATS = ["import", "require"] as const;
type Format = (typeof FORMATS)[number];
/** Prints the address of each module that Node loads. */
const hooks = `
  import { writeSync } from "node:fs";
  export function load(url, context, next) {
    if (url.startsWith("file:")) writeSync(1, url + "\\n");
    return next(url, context);
  }`;
const asUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const register = asUrl(`import { register } from "node:module"; register(${JSON.stringify(asUrl(hooks))});`);

/** Returns the files that a separate process loads for these subpaths of the built package; "" is its main entry point. */
function filesLoadedFor(format: Format, ...subpaths: string[]): string[] {
  const names = subpaths.map((subpath) => JSON.stringify(join("pulumi-webhook-endpoints", subpath)));
  const args = {
    import: [
      "--import",
      register,
      "--input-type=module",
      "-e",
      names.map((name) => `import ${name};`).join(""),
    ],
    require: ["-e", `[${names}].forEach(require); console.log(Object.keys(require.cache).join("\\n"))`],
  };
  const printed = execFileSync(process.execPath, args[format], { cwd: root, encoding: "utf8" });
  return printed
    .trim()
    .split("\n")
    .map((line) => (line.startsWith("file:") ? fileURLToPath(line) : line));
}

const { exports: subpaths } = JSON.parse(read("package.json"));
const adapters = Object.keys(subpaths)
  .map((subpath) => subpath.replace("./", ""))
  .filter((subpath) => subpath.startsWith("receiver/") && subpath !== "receiver/queues");
const folders: readonly [subpath: string, loaded: string][] = [
  ["signature", "dist/(signature/|chunks/sign)"],
  ...["receiver", "receiver/queues", ...adapters].map((subpath): [string, string] => [
    subpath,
    "dist/(receiver/|chunks/(receiver|signature))",
  ]),
  ["stack", "dist/(stack/|(receiver/)?chunks/)"],
  ["client", "dist/(client/|chunks/(?!receiver))|node_modules/undici/"],
  ["validation", "dist/(validation/|chunks/(?!receiver))|node_modules/undici/"],
];
const inEachFormat = <Row extends readonly unknown[]>(rows: readonly Row[]) =>
  FORMATS.flatMap((format) => rows.map((row): [Format, ...Row] => [format, ...row]));

test.each(inEachFormat(folders))("%s of ./%s loads only %s, and Node", (format, subpath, loaded) => {
  const files = filesLoadedFor(format, subpath).map((file) => relative(root, file).split(sep).join("/"));
  const entry = new RegExp(`^dist/${subpath.split("/")[0]}/.*\\.${format === "import" ? "mjs" : "js"}$`);
  expect(files).toContainEqual(expect.stringMatching(entry));
  const allowed = new RegExp(`^(${loaded})`);
  expect(files.filter((file) => !allowed.test(file))).toEqual([]);
});

test.each(
  inEachFormat([
    ["receiver", MOST_BYTES],
    ...adapters.map((adapter): [string, number] => [adapter, MOST_BYTES]),
    ["receiver/queues", MOST_BYTES_WITH_QUEUES],
  ] as [string, number][]),
)("with %s, a receiver that uses ./%s loads at most %i bytes", (format, subpath, most) => {
  const files = filesLoadedFor(format, "receiver", subpath);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(bytes).toBeGreaterThan(most / 2);
  expect(bytes).toBeLessThanOrEqual(most);
});

test("a program loads undici only when it asks the service something", () => {
  const loadsUndici = (...subpaths: string[]) =>
    filesLoadedFor("require", ...subpaths).some((file) =>
      file.includes(`${sep}node_modules${sep}undici${sep}`),
    );
  expect(loadsUndici("")).toBe(false);
  expect(loadsUndici("", "client")).toBe(true);
});
