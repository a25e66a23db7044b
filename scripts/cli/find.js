const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { isAtLeast } = require("../setup/platform");
const { EXECUTABLES, installRoot, isExecutable, MINIMUM_VERSION, missingFrom } = require("./folder");

/** Described in index.d.ts. */
function findCli() {
  const installed = path.join(installRoot(), "bin");
  return missingFrom(installed).length === 0 ? installed : findOnPath();
}

function findOnPath() {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  for (const folder of folders) {
    const pulumi = path.join(folder, "pulumi");
    if (!isExecutable(pulumi)) continue;
    const real = fs.realpathSync(pulumi);
    // npm puts the launcher on PATH, which would start a download.
    if (real.split(path.sep).includes("node_modules")) continue;
    const home = path.dirname(real);
    const complete = EXECUTABLES.every((name) =>
      [home, ...folders].some((place) => isExecutable(path.join(place, name))),
    );
    if (complete && isRecent(real)) return isExecutable(path.join(home, "pulumi")) ? home : folder;
  }
  return undefined;
}

function isRecent(pulumi) {
  try {
    const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
    const answer = execFileSync(pulumi, ["version"], {
      env,
      encoding: "utf8",
      timeout: 10_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const found = /^v?(3\.\d+\.\d+)/.exec(answer.trim());
    return found !== null && isAtLeast(found[1], MINIMUM_VERSION);
  } catch {
    return false;
  }
}

module.exports = { findCli };
