const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const manifest = require("../../package.json");

/** The version that set-up installs: the one of the launcher, the npm package `pulumi`. */
const CLI_VERSION = manifest.devDependencies.pulumi;

/** The oldest CLI on PATH that is used: the version of the SDK. */
const MINIMUM_VERSION = manifest.devDependencies["@pulumi/pulumi"];

const LANGUAGE_HOST = "pulumi-language-nodejs";
const DYNAMIC_PROVIDERS = "pulumi-resource-pulumi-nodejs";

/** The executables that must be in one folder. `pulumi` is installed last: if it is there, so are the others. */
const EXECUTABLES = [DYNAMIC_PROVIDERS, LANGUAGE_HOST, "pulumi"];

/** Returns the folder where the launcher, the Automation API and set-up keep this version of the CLI. */
function installRoot() {
  return path.join(process.env.PULUMI_HOME || path.join(os.homedir(), ".pulumi"), "versions", CLI_VERSION);
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
  return EXECUTABLES.filter((name) => !isExecutable(path.join(folder, name)));
}

module.exports = {
  DYNAMIC_PROVIDERS,
  EXECUTABLES,
  installRoot,
  isExecutable,
  LANGUAGE_HOST,
  MINIMUM_VERSION,
  missingFrom,
  CLI_VERSION,
};
