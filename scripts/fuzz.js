// Plays random programs, edits, faults and kills against the provider, and mutates signed messages:
// `npm run fuzz -- [--steps N] [--messages N] [--seed N [--path P]]`. A failure prints the seed and the path that replay it.

const { spawnSync } = require("node:child_process");
const { parseArgs } = require("node:util");

const options = {
  steps: { type: "string", default: "10000" },
  messages: { type: "string", default: "1000000" },
  seed: { type: "string" },
  path: { type: "string" },
};

function main() {
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    console.error(
      `fuzz: ${error.message}\nusage: npm run fuzz -- [--steps N] [--messages N] [--seed N [--path P]]`,
    );
    process.exitCode = 2;
    return;
  }
  const { steps, messages, seed, path } = values;
  const env = { ...process.env, FUZZ_STEPS: steps, FUZZ_MESSAGES: messages };
  env.FUZZ_SEED = seed ?? String(Date.now() % 2 ** 31);
  if (path !== undefined) env.FUZZ_PATH = path;
  const jest = [require.resolve("jest/bin/jest"), "/fuzz\\.test\\.ts$"];
  process.exitCode = spawnSync(process.execPath, jest, { env, stdio: "inherit" }).status ?? 1;
}

main();
