// What a receiver costs: CPU time for each delivery of 1 KiB, compared with a bare server that reads and drops the same bytes, and with
// the same server written with `standardwebhooks`. And how long it takes to load.

const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { keep, verdict } = require("./measure.js");
const { median, rounds } = require("./receiver/drive.js");

const MOST_OF_BARE = 2.0;
/** 0.75 to 0.81, as the machine hashes faster or slower. */
const MOST_OF_STANDARD = 0.85;
const MOST_LOADING = 3.5;
const ROUNDS = 15;

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
  const receiver = [path.join(folder, "index.js"), path.join(folder, "adapters", "node.js")];
  const best = { "node:http": Number.POSITIVE_INFINITY, receiver: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round++) {
    best["node:http"] = Math.min(best["node:http"], loadingTime(["node:http"]));
    best.receiver = Math.min(best.receiver, loadingTime(receiver));
  }
  const times = best.receiver / best["node:http"];
  console.log(
    `loading ./receiver and ./receiver/node: ${best.receiver.toFixed(2)} ms, node:http: ${best["node:http"].toFixed(2)} ms`,
  );
  console.log(`  ${times.toFixed(2)} times, at most ${MOST_LOADING}: ${verdict(times <= MOST_LOADING)}`);
}

function loadingTime(names) {
  const script = `const t = process.hrtime.bigint(); ${JSON.stringify(names)}.forEach((name) => require(name)); console.log(Number(process.hrtime.bigint() - t) / 1e6)`;
  return Number(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }));
}

void main();
