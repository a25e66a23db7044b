const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { makeModules } = require("./modules");
const { cache, root, withStage } = require("./tools");

const dist = path.join(root, "dist");
const stampFile = path.join(cache, "build.json");

/** The native plugin's executable, in `dist`. */
const bundleName = "pulumi-resource-webhooks.js";

/**
 * Compiles src into dist, unless dist is up to date (`rebuild` always compiles). It compiles into another folder and then moves that
 * into place, so dist never holds half a build, or a file whose source is gone.
 */
function buildStep({ rebuild }) {
  return {
    lock: path.join(cache, "build.lock"),
    doing: "building",
    isReady: () => !rebuild && isBuilt(),
    async make() {
      console.log("Compiling src into dist.");
      const inputs = hashInputs();
      await withStage(path.join(cache, "dist"), async (stage) => {
        await makeModules(stage);
        await bundlePlugin(stage);
        fs.rmSync(dist, { recursive: true, force: true });
        fs.renameSync(stage, dist);
      });
      fs.writeFileSync(stampFile, JSON.stringify({ inputs, outputs: listFiles(dist) }));
    },
  };
}

/**
 * Bundles the native plugin into one file that needs nothing but Node: a global `npm install` does not bring the optional peer
 * @pulumi/pulumi.
 */
async function bundlePlugin(folder) {
  // Loaded here: set-up may run before the dependencies are installed.
  const { build } = require("esbuild");
  const outfile = path.join(folder, bundleName);
  await build({
    entryPoints: [path.join(root, "src/plugin/main.ts")],
    outfile,
    bundle: true,
    minify: true,
    // Errors carry their class's name.
    keepNames: true,
    platform: "node",
    target: "node20",
    banner: { js: "#!/usr/bin/env node" },
    legalComments: "inline",
    logLevel: "error",
  });
  fs.chmodSync(outfile, 0o755);
}

function isBuilt() {
  if (!fs.existsSync(stampFile)) return false;
  const stamp = fs.readFileSync(stampFile, "utf8");
  return stamp === JSON.stringify({ inputs: hashInputs(), outputs: listFiles(dist) });
}

function hashInputs() {
  const settings = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "scripts/setup/modules.js",
  ];
  const sources = listFiles(path.join(root, "src")).map((file) => path.join("src", file));
  const hash = createHash("sha256");
  for (const file of [...settings, ...sources])
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(root, file)))
      .update("\0");
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

module.exports = { buildStep, bundleName };
