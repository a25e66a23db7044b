const fs = require("node:fs");
const path = require("node:path");
const { onEnd } = require("../setup/cleanup");
const { withLock } = require("../setup/lock");
const { cache } = require("../setup/paths");
const { unpackDebian } = require("./debian");
const { findRedis, unpacked } = require("./find");

const HOW_TO_GET_REDIS =
  "put a redis-server on PATH (apt-get install redis-server, dnf install redis, brew install redis) " +
  "or allow apt-get to reach its package lists, and run `node scripts/setup.js --for test` again";

/** Described in index.d.ts. */
async function ensureRedis() {
  if (findRedis() !== undefined) return;
  const onWait = () => console.log("Waiting for another set-up, which is unpacking Redis.");
  await withLock(path.join(cache, "redis.lock"), { onWait }, async () => {
    if (findRedis() !== undefined) return;
    const reason = await withStage(unpackInto);
    if (reason !== "")
      console.log(`The tests with Redis will fail: ${reason}. To fix this, ${HOW_TO_GET_REDIS}.`);
  });
}

async function unpackInto(stage) {
  const files = path.join(stage, "files");
  const reason = await unpackDebian({ files, work: path.join(stage, "work") });
  if (reason !== "") return reason;
  fs.rmSync(unpacked, { recursive: true, force: true });
  fs.renameSync(files, unpacked);
  return "";
}

/**
 * Calls `work` with an empty folder, and removes the folder afterwards. It first removes the folder of a run that was killed, so the
 * caller must hold the lock.
 */
async function withStage(work) {
  const stage = path.join(cache, "redis-stage");
  const remove = () => fs.rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
  remove();
  fs.mkdirSync(stage);
  const callOff = onEnd(remove);
  try {
    return await work(stage);
  } finally {
    callOff();
    remove();
  }
}

module.exports = { ensureRedis, HOW_TO_GET_REDIS };
