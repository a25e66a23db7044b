// Runs all benchmarks, one after the other, and writes their figures into the documentation: `npm run bench`. With
// `npm run bench -- --sizes 10,100` it measures other numbers of endpoints, and writes nothing.

const { execFileSync, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { findCli } = require("../scripts/setup/cli");
const { writePages } = require("./page.js");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "webhooks-bench-"));
const options = process.argv.slice(2);
try {
  const figures = {};
  for (const name of ["engine", "losses", "verification", "receiver", "queues"]) {
    const file = path.join(folder, `${name}.json`);
    const env = { ...process.env, BENCH_FIGURES: file };
    const script = path.join(__dirname, `${name}.js`);
    const { status } = spawnSync(process.execPath, [script, ...options], { stdio: "inherit", env });
    if (status !== 0) process.exitCode = 1;
    if (fs.existsSync(file)) figures[name] = JSON.parse(fs.readFileSync(file, "utf8"));
  }
  if (process.exitCode === undefined && options.length === 0) {
    const version = execFileSync(path.join(findCli(), "pulumi"), ["version"], { encoding: "utf8" });
    writePages({ ...figures, cli: version.trim() });
  }
} finally {
  fs.rmSync(folder, { recursive: true });
}
