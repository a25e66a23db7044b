const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { listen, respond } = require("./servers");

/**
 * Starts a server that has the files of the releases below `folder` where GitHub has them. `version` is the latest. `served` gets the name
 * of each file that was downloaded.
 */
async function startGitHub({ folder, repository, version }) {
  const served = [];
  const pattern = new RegExp(`^/${repository}/releases/(?:latest/download|download/v${version})/([\\w.-]+)$`);
  const server = http.createServer((request, response) => {
    const [, name = ""] = pattern.exec(request.url) ?? [];
    const file = path.join(folder, `v${version}`, name);
    if (name === "" || !fs.existsSync(file)) return respond(response, 404, "");
    served.push(name);
    respond(response, 200, fs.readFileSync(file));
  });
  return { url: await listen(server), served, version };
}

module.exports = { startGitHub };
