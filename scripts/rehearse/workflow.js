const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup/tools");

/** A step's command, in one line or in several. */
const COMMAND = /^ {6}(?:- | {2})run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm;

/** Returns the commands of a job of .github/workflows/release.yml: all that need no registry. */
function commandsOfJob(name) {
  const text = fs.readFileSync(path.join(root, ".github/workflows/release.yml"), "utf8");
  const [, job = ""] = new RegExp(`^ {2}${name}:\\n((?: {4}.*\\n|\\n)+)`, "m").exec(text) ?? [];
  const commands = [...job.matchAll(COMMAND)].map(
    ([, several, one]) => several?.replace(/^ {10}/gm, "") ?? one,
  );
  return commands.filter((command) => !command.startsWith("npm install --global "));
}

module.exports = { commandsOfJob };
