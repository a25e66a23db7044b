// Makes the file for `pulumi plugin install resource webhooks <version> --file <file>` from the built plugin.

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { version } = require("../package.json");
const { bundleName } = require("./setup/build");
const { root } = require("./setup/tools");

const executable = "pulumi-resource-webhooks";

function main([folder = "."]) {
  const stage = fs.mkdtempSync(path.join(os.tmpdir(), "webhooks-plugin-"));
  try {
    fs.copyFileSync(path.join(root, "dist", bundleName), path.join(stage, executable));
    fs.chmodSync(path.join(stage, executable), 0o755);
    // Windows runs no file without an extension.
    fs.writeFileSync(path.join(stage, `${executable}.cmd`), `@node "%~dp0${executable}" %*\r\n`);
    fs.copyFileSync(path.join(root, "LICENSE"), path.join(stage, "LICENSE"));
    fs.mkdirSync(folder, { recursive: true });
    const file = path.resolve(folder, `${executable}-v${version}.tgz`);
    execFileSync("tar", ["-czf", file, "-C", stage, ...fs.readdirSync(stage)]);
    console.log(file);
  } finally {
    fs.rmSync(stage, { recursive: true, force: true });
  }
}

main(process.argv.slice(2));
