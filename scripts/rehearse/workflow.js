const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup/tools");

/** A step's command, in one line or in several. */
const COMMAND = /^ {6}- run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm;

/** Returns the commands that publish, from .github/workflows/release.yml: all of the job `release` that need no registry. */
function releaseCommands() {
  const text = fs.readFileSync(path.join(root, ".github/workflows/release.yml"), "utf8");
  const [, job = ""] = /^ {2}release:\n((?: {4}.*\n|\n)+)/m.exec(text) ?? [];
  const commands = [...job.matchAll(COMMAND)].map(
    ([, several, one]) => several?.replace(/^ {10}/gm, "") ?? one,
  );
  return commands.filter((command) => !command.startsWith("npm install --global "));
}

module.exports = { releaseCommands };
