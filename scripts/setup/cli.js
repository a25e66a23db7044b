const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const manifest = require("../../package.json");
const { isExecutable, root, succeed, withStage } = require("./tools");
const { buildFromGo } = require("./cliFromGo");

/** The version that set-up installs: the one of the launcher, the npm package `pulumi`. */
const CLI_VERSION = manifest.devDependencies.pulumi;
/** The oldest CLI on PATH that is used: the version of the SDK. */
const MINIMUM_VERSION = manifest.devDependencies["@pulumi/pulumi"];
/** The executables that must be in one folder. `pulumi` is installed last: if it is there, so are the others. */
const EXECUTABLES = ["pulumi-resource-pulumi-nodejs", "pulumi-language-nodejs", "pulumi"];
/** The time limit for the official download, in seconds, unless SETUP_DOWNLOAD_SECONDS sets another. */
const DOWNLOAD_SECONDS = 30;

/** Returns the folder where the launcher, the Automation API and set-up keep this version of the CLI. */
function installRoot() {
  return path.join(process.env.PULUMI_HOME || path.join(os.homedir(), ".pulumi"), "versions", CLI_VERSION);
}

/**
 * Returns the folder of the Pulumi CLI, or undefined if there is none. Put it first on PATH: it holds `pulumi` and what `pulumi` needs to
 * run programs in Node.
 */
function findCli() {
  const installed = path.join(installRoot(), "bin");
  return missingFrom(installed).length === 0 ? installed : findOnPath();
}

function missingFrom(folder) {
  return EXECUTABLES.filter((name) => !isExecutable(path.join(folder, name)));
}

function findOnPath() {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  for (const folder of folders) {
    const pulumi = path.join(folder, "pulumi");
    if (!isExecutable(pulumi)) continue;
    const real = fs.realpathSync(pulumi);
    // npm puts the launcher on PATH, which would start a download.
    if (real.split(path.sep).includes("node_modules")) continue;
    const home = path.dirname(real);
    const complete = EXECUTABLES.every((name) =>
      [home, ...folders].some((place) => isExecutable(path.join(place, name))),
    );
    if (complete && isRecent(real)) return isExecutable(path.join(home, "pulumi")) ? home : folder;
  }
  return undefined;
}

function isRecent(pulumi) {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const stdio = ["ignore", "pipe", "ignore"];
  try {
    const answer = execFileSync(pulumi, ["version"], { env, encoding: "utf8", timeout: 10_000, stdio });
    const [, version] = /^v?(3\.\d+\.\d+)/.exec(answer.trim()) ?? [];
    return version?.localeCompare(MINIMUM_VERSION, "en", { numeric: true }) >= 0;
  } catch {
    return false;
  }
}

/** Where the CLI can come from, in the order in which they are tried. Each returns the folder of what it got. */
const SOURCES = {
  "the official download": download,
  "a build from Go modules": (stage) => buildFromGo(stage, CLI_VERSION),
};

/** Installs a Pulumi CLI if there is none, where every checkout of this user finds it. */
function cliStep() {
  const versions = path.dirname(installRoot());
  return {
    lock: path.join(versions, `.${CLI_VERSION}.lock`),
    doing: `installing the Pulumi CLI ${CLI_VERSION}`,
    isReady: () => findCli() !== undefined,
    async make() {
      const failures = [];
      for (const [name, get] of Object.entries(SOURCES)) {
        try {
          await withStage(path.join(versions, `.${CLI_VERSION}-stage`), async (stage) =>
            publish(await get(stage)),
          );
          return console.log(`Installed the Pulumi CLI ${CLI_VERSION} from ${name}.`);
        } catch (error) {
          failures.push(`  - ${name}: ${error.message.replaceAll("\n", "\n    ")}`);
        }
      }
      throw new Error(
        [
          `PATH has no Pulumi CLI ${MINIMUM_VERSION} or later, and ${CLI_VERSION} could not be installed:`,
          ...failures,
          "Do one of these, and run the command again:",
          `  - install Pulumi ${MINIMUM_VERSION} or later: https://www.pulumi.com/docs/install`,
          "  - allow access to get.pulumi.com; on a slow connection, also set SETUP_DOWNLOAD_SECONDS=600 in the environment",
          "  - install Go, and allow access to a Go module proxy: https://go.dev/dl",
        ].join("\n"),
      );
    },
  };
}

/** Lets the launcher download the official build. */
async function download(stage) {
  const launcher = path.join(root, "node_modules/pulumi/run.js");
  const env = {
    ...process.env,
    PULUMI_HOME: stage,
    PULUMI_VERSION: CLI_VERSION,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    TMPDIR: stage,
  };
  const timeoutSeconds = Number(process.env.SETUP_DOWNLOAD_SECONDS) || DOWNLOAD_SECONDS;
  const said = (lines) => lines.filter((line) => line.startsWith("pulumi: ")).slice(-1);
  await succeed(process.execPath, [launcher, "version"], { env, timeoutSeconds, said });
  return path.join(stage, "versions", CLI_VERSION, "bin");
}

/** Moves the files of a folder into place with renames, `pulumi` last. */
function publish(bin) {
  const missing = missingFrom(bin);
  if (missing.length > 0) throw new Error(`it lacks ${missing.join(" and ")}`);
  const target = path.join(installRoot(), "bin");
  fs.mkdirSync(target, { recursive: true });
  const others = fs.readdirSync(bin).filter((name) => !EXECUTABLES.includes(name));
  for (const name of [...others, ...EXECUTABLES])
    fs.renameSync(path.join(bin, name), path.join(target, name));
}

module.exports = { cliStep, findCli };
