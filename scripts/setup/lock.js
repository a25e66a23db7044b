const { randomUUID } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");
const { onEnd } = require("./tools");

const POLL_MS = 200;
const HEARTBEAT_MS = 5_000;
/**
 * A lock is dead if its process is. Because another process may have got its number, a lock is also dead if its last heartbeat is
 * older than this, in milliseconds.
 */
const DEAD_AFTER_MS = 60_000;

/**
 * Runs `work` while this process alone holds the lock `file`, and returns its result. If a live process holds the lock, it
 * calls `onWait` once and waits as long as necessary. It takes over the lock of a dead process.
 */
async function withLock(file, { onWait = () => {} }, work) {
  const content = `${process.pid} ${randomUUID()}`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  for (let waits = 0; !acquire(file, content); waits++) {
    if (breakIfDead(file)) continue;
    if (waits === 0) onWait();
    await sleep(POLL_MS);
  }

  const release = () => {
    if (read(file) === content) fs.rmSync(file, { force: true });
  };
  const callOff = onEnd(release);
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    callOff();
    release();
  }
}

function acquire(file, content) {
  try {
    fs.writeFileSync(file, content, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Removes the lock of a dead process. It renames the file first, so that only one of several processes succeeds. */
function breakIfDead(file) {
  const seen = read(file);
  if (seen === undefined) return true;
  if (!isDead(file, seen)) return false;
  const aside = `${file}.${randomUUID()}`;
  try {
    fs.renameSync(file, aside);
    // Another process may have taken the lock between the read and the rename. Then give it back.
    if (read(aside) !== seen) fs.linkSync(aside, file);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  } finally {
    fs.rmSync(aside, { force: true });
  }
  return true;
}

function isDead(file, content) {
  const age = Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const pid = Number.parseInt(content, 10);
  return age > DEAD_AFTER_MS || (Number.isInteger(pid) && !isAlive(pid));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function touch(file) {
  try {
    fs.utimesSync(file, new Date(), new Date());
  } catch {
    // Somebody removed it by hand. The work continues.
  }
}

module.exports = { withLock };
