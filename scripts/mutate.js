// Changes the sources in small ways and runs their tests against each change: `npm run mutate -- [room...]`. A change that no test
// notices survives. The score of a room is the share of changes that were noticed; it has to reach what test/mutation/rooms.js says.

const { spawnSync } = require("node:child_process");
const { existsSync, readFileSync, rmSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");
const rooms = require("../test/mutation/rooms");
const stryker = join(root, "test/mutation/node_modules/@stryker-mutator/core/bin/stryker.js");
const config = join(root, "test/mutation/stryker.config.js");

/** Returns what became of a room's mutants, and those that survived. */
function mutate(room) {
  const report = join(root, ".cache/mutation", `${room}.json`);
  rmSync(report, { force: true });
  const env = { ...process.env, MUTATE_ROOM: room };
  spawnSync(process.execPath, [stryker, "run", config], { cwd: root, env, stdio: "inherit" });
  if (!existsSync(report)) throw new Error(`Stryker did not finish the room ${room}: see above.`);
  const { files } = JSON.parse(readFileSync(report, "utf8"));
  const mutants = Object.entries(files).flatMap(([file, each]) =>
    each.mutants.map((mutant) => ({ ...mutant, file })),
  );
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const [killed, timedOut, ignored] = [count("Killed"), count("Timeout"), count("Ignored")];
  const survived = count("Survived", "NoCoverage");
  const score = (100 * (killed + timedOut)) / (killed + timedOut + survived);
  return { room, killed, "timed out": timedOut, survived, ignored, score: Number(score.toFixed(1)) };
}

function main() {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((room) => !Object.hasOwn(rooms, room));
  if (unknown.length > 0) {
    console.error(`usage: npm run mutate -- [${Object.keys(rooms).join("|")}]...`);
    process.exitCode = 2;
    return;
  }
  const rows = (wanted.length > 0 ? wanted : Object.keys(rooms)).map(mutate);
  console.table(rows);
  if (rows.some(({ room, score }) => score < rooms[room].least)) process.exitCode = 1;
}

main();
