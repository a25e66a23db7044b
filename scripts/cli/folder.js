const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const manifest = require("../../package.json");

/** The version that set-up installs: that of the launcher, the npm package `pulumi`. */
const version = manifest.devDependencies.pulumi;

/** An older CLI than the SDK is not tried; one that is already on PATH has to be of this version at least. */
const minimumVersion = manifest.devDependencies["@pulumi/pulumi"];

const languageHost = "pulumi-language-nodejs";
const dynamicProviders = "pulumi-resource-pulumi-nodejs";

/** What must lie side by side. `pulumi` comes last: where it is, the others are. */
const executables = [dynamicProviders, languageHost, "pulumi"];

/** Where the launcher, the Automation API and set-up keep one version of the CLI. */
function installRoot() {
  return path.join(process.env.PULUMI_HOME || path.join(os.homedir(), ".pulumi"), "versions", version);
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    const stat = fs.statSync(file);
    return stat.isFile() && stat.size > 0;
  } catch {
    return false;
  }
}

function missingFrom(folder) {
  return executables.filter((name) => !isExecutable(path.join(folder, name)));
}

module.exports = {
  dynamicProviders,
  executables,
  installRoot,
  isExecutable,
  languageHost,
  minimumVersion,
  missingFrom,
  version,
};
