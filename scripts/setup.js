// Prepares a checkout for a command, which `--for` names (the default is the demo). Whatever is there already costs nothing and prints
// nothing. No `node:` imports and no files loaded at the start, because the Node that this file rejects must be able to read it.

const { engines } = require("../package.json");

/** What each command needs besides the dependencies and the build: folders with packages of their own, and tools. */
const PURPOSES = {
  demo: ["cli"],
  fast: [],
  test: ["test/integration", "test/runtimes", "cli", "redis", "moto", "languages"],
  bench: ["bench", "test/integration", "cli", "redis"],
  check: ["bench", "test/integration", "test/runtimes"],
  durability: ["test/integration", "redis", "moto"],
  rehearse: ["cli", "languages"],
  build: [],
};

/** The tools: the Pulumi CLI, a Redis, a stand-in for SQS, and what programs in YAML, Python and Go need. */
const tools = {
  cli: () => require("./setup/cli").cliStep(),
  redis: () => require("./setup/redis").redisStep(),
  moto: () => require("./setup/moto").motoStep(),
  languages: () => require("./setup/languages").languagesStep(),
};

/** Returns the steps, in their order: `npm ci` in each folder, `src` into `dist`, the tools. */
function stepsFor(purpose) {
  const { buildStep } = require("./setup/build");
  const { packagesStep } = require("./setup/packages");
  const needs = PURPOSES[purpose];
  return [
    packagesStep("."),
    ...needs.filter((need) => !(need in tools)).map(packagesStep),
    buildStep({ rebuild: purpose === "build" }),
    ...needs.filter((need) => need in tools).map((need) => tools[need]()),
  ];
}

/**
 * Makes what is missing, under the step's lock, because several set-ups may run at once. A step with `without` is not essential: if it
 * fails, this says what will not work, and set-up continues.
 */
async function take({ lock, doing, isReady, make, without, remedy }) {
  const { withLock } = require("./setup/lock");
  if (isReady()) return;
  const onWait = () => console.log(`Waiting for another set-up, which is ${doing}.`);
  await withLock(lock, { onWait }, async () => {
    if (isReady()) return;
    try {
      await make();
    } catch (error) {
      if (without === undefined) throw error;
      console.log(`${without} will fail: ${error.message}. To fix this, ${remedy}.`);
    }
  });
}

/** Throws on a Node older than package.json's `engines`, and on Windows, with a message that names what is needed. */
function checkPlatform() {
  const wanted = engines.node.replace(">=", "");
  const actual = process.versions.node;
  if (actual.localeCompare(wanted, "en", { numeric: true }) < 0)
    throw new Error(
      `Node ${actual} is too old: Node ${wanted} or later is needed. Install it from https://nodejs.org.`,
    );
  if (process.platform === "win32")
    throw new Error(
      "This repository cannot be built on Windows: use Linux, macOS, or the Windows Subsystem for Linux.",
    );
}

function purposeFrom(args) {
  const name = args.length === 0 ? "demo" : args[0] === "--for" && args.length === 2 ? args[1] : "";
  if (Object.keys(PURPOSES).includes(name)) return name;
  throw new Error(`usage: node scripts/setup.js [--for ${Object.keys(PURPOSES).join("|")}]`);
}

async function main() {
  try {
    checkPlatform();
    for (const step of stepsFor(purposeFrom(process.argv.slice(2)))) await take(step);
  } catch (error) {
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}

void main();
