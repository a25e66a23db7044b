const fs = require("node:fs");
const path = require("node:path");
const { cache, root, succeed } = require("./tools");

/** Runs `npm ci` in a folder of the checkout, unless its packages already match its lock file. */
function packagesStep(folder) {
  const home = path.join(root, folder);
  const name = folder === "." ? "the dependencies" : `the dependencies of ${folder}`;
  return {
    lock: path.join(cache, `npm-${folder.replaceAll("/", "-")}.lock`),
    doing: `installing ${name}`,
    isReady: () => isInstalled(home),
    async make() {
      console.log(`Installing ${name} with npm ci. This takes about a minute.`);
      // npm writes this file last. Removing it makes sure that a killed `npm ci` is never mistaken for a finished one.
      fs.rmSync(npmStamp(home), { force: true });
      // npm prints the cause first, then help and the place of its log.
      const said = (lines) => lines.filter((line) => line.startsWith("npm error")).slice(0, 15);
      // `--include=dev`, because NODE_ENV=production would leave the development packages out.
      await succeed("npm", ["ci", "--include=dev"], { cwd: home, said }).catch((error) => {
        throw new Error(`${name} could not be installed: ${error.message}`);
      });
    },
  };
}

/** Whether npm's own record of node_modules matches the lock file. A folder without a lock file needs nothing. */
function isInstalled(home) {
  const wanted = packagesOf(path.join(home, "package-lock.json"));
  if (wanted === undefined) return true;
  const present = packagesOf(npmStamp(home));
  if (present === undefined) return false;
  return Object.entries(wanted).every(([at, { version, integrity, optional, devOptional }]) => {
    if (at === "") return true;
    const found = present[at];
    // Optional packages may be missing: most are builds for other platforms.
    if (found === undefined) return Boolean(optional || devOptional);
    return found.version === version && found.integrity === integrity;
  });
}

function npmStamp(home) {
  return path.join(home, "node_modules/.package-lock.json");
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(fs.readFileSync(lockFile, "utf8")).packages;
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

module.exports = { packagesStep };
