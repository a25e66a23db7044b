const path = require("node:path");
const { withLock } = require("../setup/lock");
const { copyDynamicProviders } = require("./dynamic-providers");
const { findCli } = require("./find");
const { DYNAMIC_PROVIDERS, installRoot, MINIMUM_VERSION, missingFrom, CLI_VERSION } = require("./folder");
const { buildFromGo } = require("./from-go");
const { installOfficial } = require("./official");
const { withStage } = require("./stage");

/** Where the CLI can come from. They are tried in this order, until one succeeds. */
const SOURCES = [
  { name: "the official download", install: installOfficial },
  { name: "a build from Go modules", install: buildFromGo },
];

/** Described in index.d.ts. */
async function ensureCli() {
  if (findCli() !== undefined) return;
  const lock = path.join(path.dirname(installRoot()), `.${CLI_VERSION}.lock`);
  const onWait = () =>
    console.log(`Waiting for another set-up, which is installing the Pulumi CLI ${CLI_VERSION}.`);
  await withLock(lock, { onWait }, async () => {
    completeInstalled();
    if (findCli() === undefined) await install();
  });
}

/** Adds the SDK's script to an installation that lacks nothing else. */
function completeInstalled() {
  const bin = path.join(installRoot(), "bin");
  if (missingFrom(bin).join() === DYNAMIC_PROVIDERS) copyDynamicProviders(path.join(bin, DYNAMIC_PROVIDERS));
}

async function install() {
  const failures = [];
  for (const source of SOURCES) {
    const reason = await withStage(source.install);
    if (reason === "") {
      console.log(`Installed the Pulumi CLI ${CLI_VERSION} from ${source.name}.`);
      return;
    }
    failures.push(`  - ${source.name}: ${reason.replaceAll("\n", "\n    ")}`);
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
}

module.exports = { ensureCli };
