const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup/paths");
const { DYNAMIC_PROVIDERS } = require("./folder");

/** Copies the plugin for dynamic providers, a shell script of the SDK, to `target`, which never holds half of it. */
function copyDynamicProviders(target) {
  const aside = `${target}.${process.pid}`;
  fs.copyFileSync(path.join(root, "node_modules/@pulumi/pulumi", DYNAMIC_PROVIDERS), aside);
  fs.chmodSync(aside, 0o755);
  fs.renameSync(aside, target);
}

module.exports = { copyDynamicProviders };
