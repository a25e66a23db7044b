// Makes the native plugin's release files from the build: an archive for each platform, where the CLI looks for it, and schema.json.

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { engines, version } = require("../package.json");
const { bundleName } = require("./setup/build");
const { root } = require("./setup/tools");

const executable = "pulumi-resource-webhooks";
/** As the CLI spells them. The files in each archive are the same, because Node runs them. */
const PLATFORMS = ["linux", "darwin", "windows"].flatMap((system) => [`${system}-amd64`, `${system}-arm64`]);
const node = engines.node.replace(">=", "");
const sentence = `${executable} needs Node ${node} or later: install it from https://nodejs.org`;

/** The files that start the bundle, or say in a sentence what is missing. */
const STARTERS = {
  [executable]: `#!/bin/sh
command -v node >/dev/null || { echo "${sentence}" >&2; exit 1; }
exec node "\${0%/*}/start.js" "$@"
`,
  [`${executable}.cmd`]: [
    `@where node >nul 2>nul || (echo ${sentence} 1>&2 & exit /b 1)`,
    '@node "%~dp0start.js" %*\r\n',
  ].join("\r\n"),
  "start.js": `// An old Node must be able to read this file.
if (process.versions.node.localeCompare("${node}", "en", { numeric: true }) < 0) {
  console.error("${sentence}. This is Node " + process.versions.node + ".");
  process.exit(1);
}
require("./${bundleName}");
`,
};

function main([folder = "release"]) {
  const stage = fs.mkdtempSync(path.join(os.tmpdir(), "webhooks-plugin-"));
  try {
    fs.mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(STARTERS))
      fs.writeFileSync(path.join(stage, name), text, { mode: 0o755 });
    fs.copyFileSync(path.join(root, "dist", bundleName), path.join(stage, bundleName));
    fs.copyFileSync(path.join(root, "LICENSE"), path.join(stage, "LICENSE"));
    for (const platform of PLATFORMS) {
      const file = path.resolve(folder, `${executable}-v${version}-${platform}.tar.gz`);
      execFileSync("tar", ["-czf", file, "-C", stage, ...fs.readdirSync(stage)]);
      console.log(file);
    }
    const file = path.resolve(folder, "schema.json");
    fs.writeFileSync(file, `${JSON.stringify(readSchema(stage), null, 2)}\n`);
    console.log(file);
  } finally {
    fs.rmSync(stage, { recursive: true, force: true });
  }
}

function readSchema(stage) {
  const { buildSync } = require("esbuild");
  const outfile = path.join(stage, "schema.js");
  buildSync({
    entryPoints: [path.join(root, "src/plugin/schema.ts")],
    outfile,
    bundle: true,
    platform: "node",
  });
  return require(outfile).schema;
}

main(process.argv.slice(2));
