const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup/paths");

/** The native plugin's executable, in the build's folder. */
const bundleName = "pulumi-resource-webhooks.js";

/**
 * Bundles the native plugin into one file that needs nothing but Node: a global `npm install` does not bring the optional peer
 * @pulumi/pulumi. Its modules alone could not be loaded, so they are removed from the build's folder.
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
  fs.rmSync(path.join(folder, "plugin"), { recursive: true, force: true });
}

module.exports = { bundleName, bundlePlugin };
