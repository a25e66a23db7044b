const path = require("node:path");
const { withLock } = require("../setup/lock");
const { copyDynamicProviders } = require("./dynamic-providers");
const { findCli } = require("./find");
const { dynamicProviders, installRoot, minimumVersion, missingFrom, version } = require("./folder");
const { buildFromGo } = require("./from-go");
const { installOfficial } = require("./official");
const { withStage } = require("./stage");

/** Described in index.d.ts. The first of these that succeeds is the last that is tried. */
const SOURCES = [
  { name: "the official download", install: installOfficial },
  { name: "a build from Go modules", install: buildFromGo },
];

async function ensureCli() {
  if (findCli() !== undefined) return;
  const lock = path.join(path.dirname(installRoot()), `.${version}.lock`);
  const onWait = () => console.log(`Another set-up is installing the Pulumi CLI ${version}; waiting for it.`);
  await withLock(lock, { onWait }, async () => {
    completeInstalled();
    if (findCli() === undefined) await install();
  });
}

/** An installation that lacks the script alone is completed: it is a file of the SDK that lies here. */
function completeInstalled() {
  const bin = path.join(installRoot(), "bin");
  if (missingFrom(bin).join() === dynamicProviders) copyDynamicProviders(path.join(bin, dynamicProviders));
}

async function install() {
  const failures = [];
  for (const source of SOURCES) {
    const reason = await withStage(source.install);
    if (reason === "") {
      console.log(`The Pulumi CLI ${version} is in place, by ${source.name}.`);
      return;
    }
    failures.push(`  - ${source.name}: ${reason.replaceAll("\n", "\n    ")}`);
  }
  throw new Error(
    [
      `there is no Pulumi CLI ${minimumVersion} or later on PATH, and ${version} could not be installed:`,
      ...failures,
      "Any one of these helps:",
      `  - install Pulumi ${minimumVersion} or later: https://www.pulumi.com/docs/install`,
      "  - let get.pulumi.com be reached; on a slow line, with SETUP_DOWNLOAD_SECONDS=600 in the environment",
      "  - install Go, with a Go module proxy within reach: https://go.dev/dl",
    ].join("\n"),
  );
}

module.exports = { ensureCli };
