// What a receiver costs: CPU time for each delivery of 1 KiB, compared with a bare server that reads and drops the same bytes, and with
// the same server written with `standardwebhooks`. And how long it takes to load.

const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { keep, verdict } = require("./measure.js");
const { median, rounds } = require("./receiver/drive.js");

const MOST_OF_BARE = 2.0;
/** 0.75 to 0.81, as the machine hashes faster or slower. */
const MOST_OF_STANDARD = 0.85;
const MOST_LOADING = 2.6;
const ROUNDS = 15;
/** What a new process does before and after it loads something. CPU time, because it waits for the disk in both, and others disturb it less. */
const START = "const before = process.cpuUsage();";
const END = "const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000);";

async function main() {
  await cpu();
  loading();
}

async function cpu() {
  const names = ["bare", "ours", "standardwebhooks"];
  const variants = Object.fromEntries(names.map((name) => [name, [name]]));
  const measured = await rounds(variants, { count: ROUNDS, deliveries: 3000 });

  console.log("receiver, microseconds of CPU time for each delivery of 1 KiB (medians)\n");
  for (const name of names) {
    const used = median(measured.map((round) => round[name].cpu));
    console.log(`  ${name.padEnd(20)} ${used.toFixed(1).padStart(7)}`);
  }
  const ofBare = median(measured.map(({ ours, bare }) => ours.cpu / bare.cpu));
  const ofStandard = median(measured.map(({ ours, standardwebhooks }) => ours.cpu / standardwebhooks.cpu));
  keep({ ours: ofBare, standardwebhooks: ofBare / ofStandard });
  console.log(
    `  ${ofBare.toFixed(2)} times the bare server, at most ${MOST_OF_BARE}: ${verdict(ofBare <= MOST_OF_BARE)}`,
  );
  console.log(
    `  ${ofStandard.toFixed(2)} of the server with standardwebhooks, at most ${MOST_OF_STANDARD}: ${verdict(ofStandard <= MOST_OF_STANDARD)}\n`,
  );
}

function loading() {
  const folder = path.join(__dirname, "..", "dist", "receiver");
  for (const { format, extension, loadingTime } of [
    { format: "CommonJS", extension: "js", loadingTime: requireTime },
    { format: "ES modules", extension: "mjs", loadingTime: importTime },
  ]) {
    const receiver = ["index", "adapters/node"].map((name) => path.join(folder, `${name}.${extension}`));
    const best = { "node:http": Number.POSITIVE_INFINITY, receiver: Number.POSITIVE_INFINITY };
    for (let round = 0; round < ROUNDS; round++) {
      best["node:http"] = Math.min(best["node:http"], loadingTime(["node:http"]));
      best.receiver = Math.min(best.receiver, loadingTime(receiver));
    }
    const times = best.receiver / best["node:http"];
    console.log(
      `loading ./receiver and ./receiver/node, ${format}: ${best.receiver.toFixed(2)} ms of CPU time, node:http: ${best["node:http"].toFixed(2)} ms`,
    );
    console.log(`  ${times.toFixed(2)} times, at most ${MOST_LOADING}: ${verdict(times <= MOST_LOADING)}`);
  }
}

function requireTime(names) {
  return timeOf(["-e", `${START} ${JSON.stringify(names)}.forEach((name) => require(name)); ${END}`]);
}

function importTime(names) {
  const imports = `for (const name of ${JSON.stringify(names)}) await import(name);`;
  return timeOf(["--input-type=module", "-e", `${START} ${imports} ${END}`]);
}

/** Returns the milliseconds that a new process prints. */
function timeOf(args) {
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

void main();
