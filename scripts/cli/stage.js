const fs = require("node:fs");
const path = require("node:path");
const { onEnd } = require("../setup/cleanup");
const { EXECUTABLES, installRoot } = require("./folder");

/**
 * Calls `work` with an empty folder next to the place of installation, and removes the folder afterwards. It first removes the folders
 * of runs that were killed, so the caller must hold the lock.
 */
async function withStage(work) {
  const versions = path.dirname(installRoot());
  const prefix = `.${path.basename(installRoot())}-`;
  fs.mkdirSync(versions, { recursive: true });
  for (const name of fs.readdirSync(versions)) {
    if (name.startsWith(prefix)) remove(path.join(versions, name));
  }

  const stage = fs.mkdtempSync(path.join(versions, prefix));
  const callOff = onEnd(() => remove(stage));
  try {
    return await work(stage);
  } finally {
    callOff();
    remove(stage);
  }
}

/** Moves the files of `bin` into place with renames, `pulumi` last: if it is there, so are all the others. */
function publish(bin) {
  const target = path.join(installRoot(), "bin");
  fs.mkdirSync(target, { recursive: true });
  const others = fs.readdirSync(bin).filter((name) => !EXECUTABLES.includes(name));
  for (const name of [...others, ...EXECUTABLES]) {
    if (fs.existsSync(path.join(bin, name))) fs.renameSync(path.join(bin, name), path.join(target, name));
  }
}

function remove(folder) {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

module.exports = { publish, withStage };
