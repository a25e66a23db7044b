const path = require("node:path");
const { run } = require("../setup/run");

/** Pulumi's SDK, and what a generated SDK needs to be installed and loaded. */
const PYTHON_PACKAGES = ["pulumi==3.255.0", "parver", "semver", "setuptools", "wheel"];

const cli = path.join(__dirname, "../cli");

/** Each is built in the main module of that folder. The last one is a file of our own, over the engine's modules. */
const hosts = [
  {
    name: "pulumi-language-yaml",
    module: path.join(__dirname, "yaml"),
    from: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
  },
  {
    name: "pulumi-language-python",
    module: path.join(cli, "language"),
    from: "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python",
    beside: "pulumi-language-python-exec",
  },
  { name: "generateSdk", module: path.join(cli, "engine"), from: path.join(__dirname, "generateSdk.go") },
];

/** Makes a Python environment with Pulumi's SDK in `folder`. Returns the reason why it could not, or "". */
async function installPython(folder) {
  const made = await run("python3", ["-m", "venv", folder]);
  if (!made.ok) return [made.reason, ...made.lines.slice(-3)].join("\n");
  const python = path.join(folder, "bin/python3");
  const installed = await run(python, ["-m", "pip", "install", "--quiet", ...PYTHON_PACKAGES]);
  return installed.ok ? "" : [installed.reason, ...installed.lines.slice(-3)].join("\n");
}

module.exports = { hosts, installPython };
