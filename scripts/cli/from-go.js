const fs = require("node:fs");
const path = require("node:path");
const { run } = require("../setup/run");
const { DYNAMIC_PROVIDERS, LANGUAGE_HOST, CLI_VERSION } = require("./folder");
const { copyDynamicProviders } = require("./dynamic-providers");
const { publish } = require("./stage");

const PROGRESS_SECONDS = 20;
const VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

/**
 * The parts of the CLI. Each is built from its own main module, in the folder `module`. The language host is no longer in the engine's
 * modules: 3.60.0 is the last release of the SDK's module that contains it, and it works with today's engine.
 */
const PARTS = [
  {
    name: LANGUAGE_HOST,
    module: "language",
    version: "3.60.0",
    from: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
  },
  {
    name: "pulumi",
    module: "engine",
    version: CLI_VERSION,
    from: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
  },
];

/** Builds the CLI from Go modules. Returns the reason why that failed, or "" if it succeeded. */
async function buildFromGo(stage) {
  const go = await run("go", ["version"]);
  if (!go.ok) return go.reason;

  console.log(
    `Building the Pulumi CLI ${CLI_VERSION} from Go modules. This takes about seven minutes on two cores, once.`,
  );
  const bin = path.join(stage, "bin");
  const temporary = path.join(stage, "tmp");
  for (const folder of [bin, temporary]) fs.mkdirSync(folder, { recursive: true });
  // The user's own Go workspace and flags are for the user's code.
  const env = { ...process.env, GOTMPDIR: temporary, GOWORK: "off", GOFLAGS: "" };

  const progress = startProgress();
  try {
    for (const part of PARTS) {
      const flags = ["-v", "-mod=readonly", "-buildvcs=false", "-tags", "osusergo,grpcnotrace"];
      const ldflags = ["-ldflags", `-s -w -X ${VERSION_VARIABLE}=v${part.version}`];
      const args = ["build", ...flags, ...ldflags, "-o", path.join(bin, part.name), part.from];
      const cwd = path.join(__dirname, part.module);
      const { ok, reason, lines } = await run("go", args, { cwd, env, onLine: progress.count });
      if (!ok) return [reason, ...lines.slice(-10)].join("\n");
    }
  } finally {
    progress.stop();
  }
  copyDynamicProviders(path.join(bin, DYNAMIC_PROVIDERS));
  publish(bin);
  return "";
}

/** Prints progress now and then. `go build -v` prints a line for each module it downloads and each package it compiles. */
function startProgress() {
  const started = Date.now();
  let downloaded = 0;
  let compiled = 0;
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    console.log(`  ${seconds} s: ${downloaded} modules downloaded, ${compiled} packages compiled`);
  }, PROGRESS_SECONDS * 1000);
  return {
    count(line) {
      if (line.startsWith("go: downloading ")) downloaded++;
      else compiled++;
    },
    stop: () => clearInterval(timer),
  };
}

module.exports = { buildFromGo };
