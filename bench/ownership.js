// Measures `list` and `prune` with the real Pulumi CLI: node bench/ownership.js [stacks] [endpoints]. Default: 300 stacks, 20000 endpoints.
const { spawn, execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { findCli } = require("../scripts/cli");
const { startEmulator } = require("../dist/emulator");

const COMMAND = path.join(__dirname, "../dist/cli/main.js");
const DAY_MS = 86_400_000;
/** The endpoints of each stack. */
const MANAGED = 20;
const [STACKS = 300, ENDPOINTS = 20_000] = process.argv.slice(2).map(Number);

/** Runs a program, and returns what it printed and how long it took. */
async function timed(args, options) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [COMMAND, ...args], {
    ...options,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let stdout = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return { seconds: (performance.now() - startedAt) / 1000, value: JSON.parse(stdout) };
}

/** Makes the stacks from one that the CLI has made, each in one of ten projects. */
function copyStacks(folder, emulator) {
  const stacks = path.join(folder, "backend/.pulumi/stacks");
  const text = fs.readFileSync(path.join(stacks, "p0/dev.json"), "utf8");
  for (let number = 0; number < STACKS - 1; number += 1) {
    const [project, name] = [`p${number % 10}`, `s${number}`];
    const state = JSON.parse(text);
    const urn = (type, resource) => `urn:pulumi:${name}::${project}::${type}::${resource}`;
    const type = "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint";
    const root = "pulumi:pulumi:Stack";
    state.checkpoint.stack = `organization/${project}/${name}`;
    state.checkpoint.latest.resources = [
      { urn: urn(root, `${project}-${name}`), custom: false, type: root },
      ...Array.from({ length: MANAGED }, (_, index) => {
        const args = { url: `https://${name}.example.com/${index}`, type: "development" };
        const { id } = emulator.add(args);
        return { urn: urn(type, `e${index}`), custom: true, id, type, inputs: args, outputs: args };
      }),
    ];
    fs.mkdirSync(path.join(stacks, project), { recursive: true });
    fs.writeFileSync(path.join(stacks, project, `${name}.json`), JSON.stringify(state));
  }
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ownership-"));
  let now = Date.now() - 30 * DAY_MS;
  const emulator = await startEmulator({ port: 0, now: () => now, warn: () => {} });
  try {
    fs.writeFileSync(path.join(folder, "Pulumi.yaml"), "name: p0\nruntime: nodejs\n");
    fs.mkdirSync(path.join(folder, "backend"));
    const env = {
      ...process.env,
      PATH: [findCli(), process.env.PATH].join(path.delimiter),
      PULUMI_HOME: path.join(folder, "home"),
      PULUMI_BACKEND_URL: `file://${path.join(folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "x",
      WEBHOOKS_BASE_URL: emulator.url,
      WEBHOOKS_API_KEY: emulator.apiKey,
    };
    const options = { cwd: folder, env };
    execFileSync("pulumi", ["stack", "init", "dev"], { ...options, stdio: "ignore" });
    copyStacks(folder, emulator);
    for (let number = 0; number < ENDPOINTS; number += 1)
      emulator.add({ url: `https://lost.example.com/${number}`, type: "development" });
    now = Date.now();
    const listed = await timed(["list", "--orphans", "--json"], options);
    console.log(`list --orphans: ${listed.seconds.toFixed(1)} s, ${listed.value.length} orphans`);
    const pruned = await timed(["prune", "--older-than", "7d", "--yes", "--json"], options);
    const { stacks, deleted } = pruned.value;
    console.log(`prune: ${pruned.seconds.toFixed(1)} s, ${deleted.length} deleted, ${stacks} stacks`);
    const left = emulator.endpoints().length;
    if (left !== (STACKS - 1) * MANAGED) throw new Error(`${left} endpoints are left`);
  } finally {
    await emulator.close();
    fs.rmSync(folder, { recursive: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
