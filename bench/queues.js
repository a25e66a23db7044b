// What the hand-off to a queue costs, compared with the same duties by hand around `standardwebhooks` and BullMQ; and how many
// deliveries one process takes, as docs/deduplication.md shows. Redis and PostgreSQL write each delivery to the disk before they confirm it.

require("ts-node/register/transpile-only");
const { startDurableRedis } = require("../test/integration/stores/redis.ts");
const { startPostgres } = require("../test/integration/stores/postgres.ts");
const { keep, verdict } = require("./measure.js");
const { median, rounds } = require("./receiver/drive.js");

const MOST_OF_BY_HAND = 1.0;
const ROUNDS = 9;

async function main() {
  const redis = await startDurableRedis();
  const postgres = await startPostgres();
  try {
    const variants = {
      "handler, memory": ["ours"],
      "handler, Redis dedupe": ["redis", redis.url],
      BullMQ: ["bullmq", redis.url],
      "BullMQ by hand": ["byHand", redis.url],
      "pg-boss": ["pgBoss", postgres.url],
    };
    report(await rounds(variants, { count: ROUNDS, deliveries: 1500 }));
  } finally {
    await redis.dispose();
    await postgres.dispose();
  }
}

function report(measured) {
  console.log(
    "receivers: deliveries of 1 KiB in a second, and microseconds of CPU time for each (medians)\n",
  );
  const figures = {};
  for (const name of Object.keys(measured[0])) {
    const [cpu, perSecond] = ["cpu", "perSecond"].map((what) =>
      median(measured.map((round) => round[name][what])),
    );
    figures[name] = { cpu, perSecond };
    console.log(`  ${name.padEnd(24)}${perSecond.toFixed(0).padStart(7)}${cpu.toFixed(1).padStart(9)}`);
  }
  keep(figures);
  const cpu = median(measured.map((round) => round.BullMQ.cpu / round["BullMQ by hand"].cpu));
  const time = median(measured.map((round) => round["BullMQ by hand"].perSecond / round.BullMQ.perSecond));
  console.log(
    `  CPU time of the hand-off by hand, times ${cpu.toFixed(2)}: ${verdict(cpu <= MOST_OF_BY_HAND)}`,
  );
  console.log(`  time of the hand-off by hand, times ${time.toFixed(2)}`);
}

void main();
