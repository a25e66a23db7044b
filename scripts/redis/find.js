const fs = require("node:fs");
const path = require("node:path");
const { cache } = require("../setup/paths");

/** The folder of the unpacked packages, with the script `redis-server` that runs them there. */
const unpacked = path.join(cache, "redis");

/** Described in index.d.ts. */
function findRedis() {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter).filter(Boolean), unpacked];
  return folders.map((folder) => path.join(folder, "redis-server")).find(isExecutable);
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

module.exports = { findRedis, unpacked };
