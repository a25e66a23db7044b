// Checks the code without running it, and prints one line for each check. A failed check does not stop the others.

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { onEnd, root, run } = require("./setup/tools");

const CHECKS = [
  { name: "format", command: "biome", args: ["check", "--linter-enabled=false", "--colors=off"] },
  { name: "lint", command: "biome", args: ["lint", "--error-on-warnings", "--colors=off"] },
  { name: "types", command: "tsc", args: ["--project", "tsconfig.json", "--noEmit", "--pretty", "false"] },
  { name: "dead code", command: "knip", args: [] },
  { name: "package", command: "publint", args: ["--strict", "$PACKED"] },
  // In every way that TypeScript resolves an import, including the old node10.
  { name: "types of the package", command: "attw", args: ["--no-color", "--profile", "strict", "$PACKED"] },
  // Its warnings are errors: an export without a description, or a link to an anchor that does not exist.
  { name: "site", command: "typedoc", args: ["--out", "$SITE", "--logLevel", "Warn"] },
];

async function main() {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "check-"));
  onEnd(() => fs.rmSync(temporary, { recursive: true, force: true }));
  const places = { $PACKED: await pack(temporary), $SITE: path.join(temporary, "site") };
  let failed = 0;
  for (const check of CHECKS) {
    if (!(await passes(check, places))) failed++;
  }
  console.log(failed === 0 ? "All checks passed." : `${failed} of ${CHECKS.length} checks failed.`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** Packs what set-up has built into the file that a user would install. Returns its path. */
async function pack(folder) {
  const args = ["pack", "--ignore-scripts", "--pack-destination", folder];
  const { ok, reason, lines } = await run("npm", args, { cwd: root });
  if (!ok) throw new Error(`npm pack failed: ${reason}\n${lines.join("\n")}`);
  return path.join(
    folder,
    fs.readdirSync(folder).find((name) => name.endsWith(".tgz")),
  );
}

/** Runs one check, with the places that its arguments name, and prints its result. Returns whether it passed. */
async function passes({ name, command, args }, places) {
  const started = Date.now();
  const bin = path.join(root, "node_modules/.bin", command);
  const filled = args.map((arg) => places[arg] ?? arg);
  const { ok, reason, lines } = await run(bin, filled, { cwd: root });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${ok ? "ok    " : "FAILED"} ${name} (${command}, ${seconds} s)`);
  if (!ok) console.log([...lines, path.basename(reason)].map((line) => `       ${line}`).join("\n"));
  return ok;
}

main().catch((error) => {
  console.error(`check: ${error.message}`);
  process.exitCode = 1;
});
