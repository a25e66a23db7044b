// Runs all benchmarks, one after the other: `npm run bench`, or `npm run bench -- --sizes 10,100` for fewer endpoints.

const { spawnSync } = require("node:child_process");
const path = require("node:path");

for (const name of ["engine", "losses", "verification", "receiver", "queues"]) {
  const { status } = spawnSync(
    process.execPath,
    [path.join(__dirname, `${name}.js`), ...process.argv.slice(2)],
    {
      stdio: "inherit",
    },
  );
  if (status !== 0) process.exitCode = 1;
}
