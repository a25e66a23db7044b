// Timing on a machine that is busy with other things: the variants take turns, and the fastest round of each counts, because a
// disturbance can only make a round slower.

const fs = require("node:fs");

/**
 * Measures how many nanoseconds one call of each variant takes. A call that returns a promise is awaited.
 * @param {Record<string, () => unknown>} variants
 * @returns {Promise<Record<string, number>>}
 */
async function nanosecondsOf(variants, { rounds = 100, roundMs = 5 } = {}) {
  const timed = {};
  const calls = {};
  const best = {};
  for (const [name, run] of Object.entries(variants)) {
    timed[name] = run() instanceof Promise ? timeAsync : time;
    await timed[name](run, 200);
    calls[name] = Math.max(1, Math.round((roundMs * 1e6) / (await timed[name](run, 20))));
    best[name] = Number.POSITIVE_INFINITY;
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(variants))
      best[name] = Math.min(best[name], await timed[name](run, calls[name]));
  }
  return best;
}

function time(run, calls) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) run();
  return Number(process.hrtime.bigint() - start) / calls;
}

async function timeAsync(run, calls) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) await run();
  return Number(process.hrtime.bigint() - start) / calls;
}

/** Keeps the figures of a benchmark for the documentation. */
function keep(figures) {
  const file = process.env.BENCH_FIGURES;
  if (file) fs.writeFileSync(file, JSON.stringify(figures));
}

/** Returns the word for a limit that is kept or missed. A missed one makes the process fail. */
function verdict(kept) {
  if (!kept) process.exitCode = 1;
  return kept ? "ok" : "MISSED";
}

module.exports = { keep, nanosecondsOf, verdict };
