const fs = require("node:fs");
const path = require("node:path");
const { root, succeed } = require("./tools");

const PROGRESS_SECONDS = 20;
const VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";
/** The plugin for dynamic providers, a shell script of the SDK. */
const DYNAMIC_PROVIDERS = "pulumi-resource-pulumi-nodejs";

/**
 * Builds the parts of the CLI from Go modules, each from its own main module, and returns the folder where they are. The language host is
 * no longer in the engine's modules: 3.60.0 is the last release of the SDK's module that contains it, and it works with today's engine.
 */
async function buildFromGo(stage, cliVersion) {
  await succeed("go", ["version"]);
  console.log(
    `Building the Pulumi CLI ${cliVersion} from Go modules. This takes about seven minutes on two cores, once.`,
  );
  const bin = path.join(stage, "bin");
  const GOTMPDIR = path.join(stage, "tmp");
  for (const folder of [bin, GOTMPDIR]) fs.mkdirSync(folder);
  // The user's own Go workspace and flags are for the user's code.
  const env = { ...process.env, GOTMPDIR, GOWORK: "off", GOFLAGS: "" };
  const progress = startProgress();
  const build = (module, { name, version, from }) => {
    const flags = ["-v", "-mod=readonly", "-buildvcs=false", "-tags", "osusergo,grpcnotrace"];
    const ldflags = ["-ldflags", `-s -w -X ${VERSION_VARIABLE}=v${version}`];
    const args = ["build", ...flags, ...ldflags, "-o", path.join(bin, name), from];
    return succeed("go", args, { cwd: path.join(__dirname, "go", module), env, onLine: progress.count });
  };
  try {
    await build("language", {
      name: "pulumi-language-nodejs",
      version: "3.60.0",
      from: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    });
    await build("engine", {
      name: "pulumi",
      version: cliVersion,
      from: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    });
  } finally {
    progress.stop();
  }
  const script = path.join(bin, DYNAMIC_PROVIDERS);
  fs.copyFileSync(path.join(root, "node_modules/@pulumi/pulumi", DYNAMIC_PROVIDERS), script);
  fs.chmodSync(script, 0o755);
  return bin;
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
