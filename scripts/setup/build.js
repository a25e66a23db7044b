const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { bundlePlugin } = require("../plugin/bundle");
const { onEnd } = require("./cleanup");
const { cache, root } = require("./paths");
const { withLock } = require("./lock");
const { run } = require("./run");

const dist = path.join(root, "dist");
const stampFile = path.join(cache, "build.json");

/**
 * Compiles src into dist, unless dist is up to date (`rebuild` always compiles). It compiles into another folder and then moves that
 * into place, so dist never holds half a build, or a file whose source is gone.
 */
async function build({ rebuild = false } = {}) {
  if (!rebuild && isBuilt()) return;
  const onWait = () => console.log("Waiting for another set-up, which is building.");

  await withLock(path.join(cache, "build.lock"), { onWait }, async () => {
    if (!rebuild && isBuilt()) return;
    console.log("Compiling src into dist.");
    const inputs = hashInputs();
    const aside = path.join(cache, "dist");
    fs.rmSync(aside, { recursive: true, force: true });
    const callOff = onEnd(() => fs.rmSync(aside, { recursive: true, force: true }));
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const args = [tsc, "--project", "tsconfig.build.json", "--outDir", aside, "--pretty", "false"];
    // Editors show the comments of the declarations. In the JavaScript they would only make receivers load more.
    for (const pass of [
      ["--emitDeclarationOnly"],
      ["--declaration", "false", "--removeComments", "--noCheck"],
    ]) {
      const { ok, reason, lines } = await run(process.execPath, [...args, ...pass], { cwd: root });
      if (!ok) throw new Error([`the build failed: ${reason}`, ...lines].join("\n"));
    }
    await bundlePlugin(aside);

    fs.rmSync(dist, { recursive: true, force: true });
    fs.renameSync(aside, dist);
    fs.writeFileSync(stampFile, JSON.stringify({ inputs, outputs: listFiles(dist) }));
    callOff();
  });
}

function isBuilt() {
  if (!fs.existsSync(stampFile)) return false;
  const stamp = fs.readFileSync(stampFile, "utf8");
  return stamp === JSON.stringify({ inputs: hashInputs(), outputs: listFiles(dist) });
}

function hashInputs() {
  const settings = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  const sources = listFiles(path.join(root, "src")).map((file) => path.join("src", file));
  const hash = createHash("sha256");
  for (const file of [...settings, ...sources]) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

function listFiles(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

module.exports = { build };
