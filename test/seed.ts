import { spawnSync } from "node:child_process";

/** The seed of the fuzzers: one for each commit, so that a run of the tests can be repeated. `npm run fuzz` takes a new one each time. */
export function fuzzSeed(): number {
  const { FUZZ_SEED } = process.env;
  if (FUZZ_SEED !== undefined) return Number(FUZZ_SEED);
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
  return Number.parseInt(stdout.slice(0, 7), 16) || 1;
}
