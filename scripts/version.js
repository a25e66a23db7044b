// Sets the version where npm does not: `npm version 0.2.0` runs this before it commits.

const fs = require("node:fs");
const path = require("node:path");
const { root } = require("./setup/tools");

function main({ npm_old_version: old, npm_new_version: version }) {
  if (!old || !version) throw new Error("run `npm version <version>`, which runs this");
  const today = new Date().toISOString().slice(0, 10);
  replace("CHANGELOG.md", /^## .*not released yet$/im, `## ${version}, ${today}`);
  for (const [file, before] of [
    ["README.md", "pulumi-webhook-endpoints-"],
    ["docs/other-languages.md", "pulumi plugin install resource webhooks "],
    ["templates/typescript/package.json", '"pulumi-webhook-endpoints": "'],
  ])
    replace(file, before + old, before + version);
}

function replace(name, pattern, text) {
  const file = path.join(root, name);
  const content = fs.readFileSync(file, "utf8");
  const replaced = content.replace(pattern, text);
  if (replaced === content && pattern !== text) throw new Error(`${name} does not have ${pattern}`);
  fs.writeFileSync(file, replaced);
}

main(process.env);
