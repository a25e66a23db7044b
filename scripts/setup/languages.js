const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { succeed, withStage } = require("./tools");

/** Names what is built, with its versions: the folder below Pulumi's where it is. */
const languageSet = "yaml-1.30.0-python-3.60.0";
/** Pulumi's SDK, and what a generated SDK needs to be installed and loaded. */
const PYTHON_PACKAGES = ["pulumi==3.255.0", "parver", "semver", "setuptools", "wheel"];
const howToGetLanguages =
  "install Go (https://go.dev/dl) and Python 3.9 or later with venv, let their registries be reached, and run " +
  "`node scripts/setup.js --for test` again";

/** Each is built in the main module of a folder of `go`. The last one is a file of our own, over the engine's modules. */
const HOSTS = [
  {
    name: "pulumi-language-yaml",
    module: "yaml",
    from: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
  },
  {
    name: "pulumi-language-python",
    module: "language",
    from: "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python",
    beside: "pulumi-language-python-exec",
  },
  {
    name: "generateSdk",
    module: "engine",
    from: path.join(__dirname, "go/generateSdk.go"),
  },
];

function folder() {
  const home = process.env.PULUMI_HOME || path.join(os.homedir(), ".pulumi");
  return path.join(home, "languages", languageSet);
}

/**
 * Returns what set-up built, or undefined. Put first on PATH, `path` gives the language hosts of YAML and Python, `generateSdk`, and a
 * `python3` with Pulumi's SDK.
 */
function findLanguages() {
  const home = folder();
  if (!fs.existsSync(home)) return undefined;
  return { path: [path.join(home, "bin"), path.join(home, "python/bin")].join(path.delimiter) };
}

/** Builds the language hosts of YAML and Python from Go modules, and a Python environment with Pulumi's SDK. */
function languagesStep() {
  const home = folder();
  return {
    lock: `${home}.lock`,
    doing: "building the language hosts",
    isReady: () => findLanguages() !== undefined,
    async make() {
      console.log("Building the language hosts of YAML and Python: once, about two minutes on two cores.");
      await withStage(`${home}.stage`, async (stage) => {
        const bin = path.join(stage, "bin");
        fs.mkdirSync(bin);
        for (const host of HOSTS) await buildHost(host, bin);
        const python = path.join(stage, "python");
        await succeed("python3", ["-m", "venv", python]);
        const pip = ["-m", "pip", "install", "--quiet", ...PYTHON_PACKAGES];
        await succeed(path.join(python, "bin/python3"), pip);
        fs.renameSync(stage, home);
      });
    },
    without: "The tests of other languages",
    remedy: howToGetLanguages,
  };
}

async function buildHost({ name, module, from, beside }, bin) {
  const options = {
    cwd: path.join(__dirname, "go", module),
    env: { ...process.env, GOWORK: "off", GOFLAGS: "" },
  };
  const flags = ["-mod=readonly", "-buildvcs=false", "-tags", "osusergo,grpcnotrace", "-ldflags", "-s -w"];
  await succeed("go", ["build", ...flags, "-o", path.join(bin, name), from], options);
  if (beside === undefined) return;
  const found = await succeed("go", ["list", "-mod=readonly", "-f", "{{.Dir}}", from], options);
  fs.copyFileSync(path.join(found.at(-1), "..", beside), path.join(bin, beside));
  fs.chmodSync(path.join(bin, beside), 0o755);
}

module.exports = { findLanguages, howToGetLanguages, languagesStep, languageSet };
