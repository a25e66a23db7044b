// Changes the sources in small ways and runs their tests against each change: `npm run mutate -- [room...] [--every N]`. A change that no
// test notices survives. The score of a room is the share of changes that were noticed; it has to reach what test/mutation/rooms.js says.
// With --every, only each Nth line is changed, from a random one on: hours become minutes, and the score an estimate.

const { spawnSync } = require("node:child_process");
const { existsSync, readFileSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const { parseArgs } = require("node:util");

const root = join(__dirname, "..");
const rooms = require("../test/mutation/rooms");
const stryker = join(root, "test/mutation/node_modules/@stryker-mutator/core/bin/stryker.js");
const config = join(root, "test/mutation/stryker.config.js");

/** Returns what became of a room's mutants, and prints those that survived. */
function mutate(room, every) {
  const report = join(root, ".cache/mutation", `${room}.json`);
  rmSync(report, { force: true });
  const first = Math.floor(Math.random() * every);
  const env = { ...process.env, MUTATE_ROOM: room, MUTATE_EVERY: String(every), MUTATE_FIRST: String(first) };
  spawnSync(process.execPath, [stryker, "run", config], { cwd: root, env, stdio: "inherit" });
  if (!existsSync(report)) throw new Error(`Stryker did not finish the room ${room}: see above.`);
  const { files } = JSON.parse(readFileSync(report, "utf8"));
  const mutants = Object.values(files).flatMap((file) => file.mutants);
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const [killed, timedOut, ignored] = [count("Killed"), count("Timeout"), count("Ignored")];
  const survived = count("Survived", "NoCoverage");
  const score = (100 * (killed + timedOut)) / (killed + timedOut + survived);
  return { room, killed, "timed out": timedOut, survived, ignored, score: Number(score.toFixed(1)) };
}

function main() {
  const { values, positionals } = parseArgs({
    options: { every: { type: "string", default: "1" } },
    allowPositionals: true,
  });
  const every = Number(values.every);
  const unknown = positionals.filter((room) => !Object.hasOwn(rooms, room));
  if (unknown.length > 0 || !Number.isInteger(every) || every < 1) {
    console.error(`usage: npm run mutate -- [${Object.keys(rooms).join("|")}]... [--every N]`);
    process.exitCode = 2;
    return;
  }
  const rows = (positionals.length > 0 ? positionals : Object.keys(rooms)).map((room) => mutate(room, every));
  console.table(rows);
  if (rows.some(({ room, score }) => score < rooms[room].least)) process.exitCode = 1;
}

main();
