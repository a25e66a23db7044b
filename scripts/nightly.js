// Deletes orphans in many rounds beside ups, renames and kills of other projects: `npm run nightly -- [--rounds N]`.

const { spawnSync } = require("node:child_process");
const { parseArgs } = require("node:util");

const { rounds } = parseArgs({ options: { rounds: { type: "string", default: "200" } } }).values;
const jest = [require.resolve("jest/bin/jest"), "test/engine/nightly"];
const env = { ...process.env, NIGHTLY_ROUNDS: rounds };
process.exitCode = spawnSync(process.execPath, jest, { env, stdio: "inherit" }).status ?? 1;
