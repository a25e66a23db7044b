// Prepares a checkout: installs the dependencies, builds, and gets the Pulumi CLI, each only if it is missing.
// `--for` names the purpose. The default is what the demo needs.

const { checkPlatform } = require("./setup/platform");

const PURPOSES = {
  demo: { cli: true, extras: [] },
  test: {
    cli: true,
    redis: true,
    moto: true,
    languages: true,
    extras: ["test/integration"],
  },
  bench: { cli: true, redis: true, extras: ["bench", "test/integration"] },
  check: { cli: false, extras: ["test/integration", "bench"] },
  mutate: { cli: false, extras: ["test/mutation"] },
  durability: { cli: false, redis: true, moto: true, extras: ["test/integration"] },
  build: { cli: false, extras: [], rebuild: true },
};

async function setUp({ cli, extras, redis = false, moto = false, languages = false, rebuild = false }) {
  const { installDependencies } = require("./setup/dependencies");
  const { build } = require("./setup/build");
  const { ensureCli } = require("./cli");
  const { ensureLanguages } = require("./languages");
  const { ensureMoto } = require("./moto");
  const { ensureRedis } = require("./redis");

  await installDependencies();
  for (const folder of extras) await installDependencies({ folder });
  await build({ rebuild });
  if (cli) await ensureCli();
  if (redis) await ensureRedis();
  if (moto) await ensureMoto();
  if (languages) await ensureLanguages();
}

function purposeFrom(args) {
  const name = args.length === 0 ? "demo" : args[0] === "--for" && args.length === 2 ? args[1] : "";
  if (Object.hasOwn(PURPOSES, name)) return PURPOSES[name];
  throw new Error(`usage: node scripts/setup.js [--for ${Object.keys(PURPOSES).join("|")}]`);
}

async function main() {
  try {
    checkPlatform(); // before the other files are loaded, which an old Node can't parse
    await setUp(purposeFrom(process.argv.slice(2)));
  } catch (error) {
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}

void main();
