// Prepares a checkout: installs the dependencies, builds, and gets what a command needs, each only if it is missing.
// `--for` names the command. The default is what the demo needs.

const { checkPlatform } = require("./setup/platform");

/** What each command needs besides the dependencies and the build. */
const PURPOSES = {
  demo: ["cli"],
  test: ["test/integration", "cli", "redis", "moto", "languages"],
  bench: ["bench", "test/integration", "cli", "redis"],
  check: ["bench", "test/integration"],
  durability: ["test/integration", "redis", "moto"],
  build: [],
};

/**
 * Returns the steps, in their order. Each says when it is ready and makes what is missing. Several set-ups may run at once, so a step
 * runs under its lock. A step with `without` is not essential: if it fails, it says what will not work, and set-up continues.
 */
function stepsFor(purpose) {
  const { buildStep } = require("./setup/build");
  const { packagesStep } = require("./setup/packages");
  const tools = {
    cli: require("./cli").cliStep,
    redis: require("./redis").redisStep,
    moto: require("./moto").motoStep,
    languages: require("./languages").languagesStep,
  };
  const needs = PURPOSES[purpose];
  return [
    packagesStep("."),
    ...needs.filter((need) => !(need in tools)).map(packagesStep),
    buildStep({ rebuild: purpose === "build" }),
    ...needs.filter((need) => need in tools).map((need) => tools[need]()),
  ];
}

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

function purposeFrom(args) {
  const name = args.length === 0 ? "demo" : args[0] === "--for" && args.length === 2 ? args[1] : "";
  if (Object.keys(PURPOSES).includes(name)) return name;
  throw new Error(`usage: node scripts/setup.js [--for ${Object.keys(PURPOSES).join("|")}]`);
}

async function main() {
  try {
    checkPlatform(); // before the other files are loaded, which an old Node can't parse
    for (const step of stepsFor(purposeFrom(process.argv.slice(2)))) await take(step);
  } catch (error) {
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}

void main();
