import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(__dirname, "../..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "version-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = ["AUTHOR", "COMMITTER"].flatMap((who) => [
  [`GIT_${who}_NAME`, "test"],
  [`GIT_${who}_EMAIL`, "test@example.com"],
]);
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: "1",
  npm_config_update_notifier: "false",
  ...Object.fromEntries(names),
};

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: join(folder, "checkout"), env, encoding: "utf8" });
}

test("`npm version` writes the version wherever it stands, commits it, and makes an annotated tag", () => {
  for (const name of [
    "package.json",
    "package-lock.json",
    "CHANGELOG.md",
    "README.md",
    "docs",
    "templates",
    "scripts",
  ])
    cpSync(join(root, name), join(folder, "checkout", name), { recursive: true });
  run("git", "init", "--quiet");
  run("git", "add", "--all");
  run("git", "commit", "--quiet", "--message", "before");

  run("npm", "version", "9.8.7");

  expect(run("git", "status", "--porcelain")).toBe("");
  expect(run("git", "cat-file", "-t", "v9.8.7")).toBe("tag\n");
  expect(run("git", "log", "-1", "--format=%D")).toContain("tag: v9.8.7");
  const lock = JSON.parse(run("git", "show", "HEAD:package-lock.json"));
  expect([lock.version, lock.packages[""].version]).toEqual(["9.8.7", "9.8.7"]);
  const today = new Date().toISOString().slice(0, 10);
  expect(run("git", "show", "HEAD:CHANGELOG.md")).toContain(`\n## 9.8.7, ${today}\n`);
  const pages = "README.md docs templates package.json ':!docs/*.svg'";
  expect(run("sh", "-c", `git grep -F ${version} -- ${pages} || true`)).toBe("");
  expect(run("sh", "-c", `git grep -lF 9.8.7 -- ${pages}`).split("\n")).toEqual([
    "README.md",
    "docs/other-languages.md",
    "package.json",
    "templates/typescript/package.json",
    "",
  ]);
});
