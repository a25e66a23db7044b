const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const manifest = require("../../package.json");

/** The version that set-up installs: the one of the launcher, the npm package `pulumi`. */
const version = manifest.devDependencies.pulumi;

/** The oldest CLI on PATH that is used: the version of the SDK. */
const minimumVersion = manifest.devDependencies["@pulumi/pulumi"];

const languageHost = "pulumi-language-nodejs";
const dynamicProviders = "pulumi-resource-pulumi-nodejs";

/** The executables that must be in one folder. `pulumi` is installed last: if it is there, so are the others. */
const executables = [dynamicProviders, languageHost, "pulumi"];

/** Returns the folder where the launcher, the Automation API and set-up keep this version of the CLI. */
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
