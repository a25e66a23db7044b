const { execFile, execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { promisify } = require("node:util");
const { findCli } = require("../../scripts/setup/cli");

const root = path.join(__dirname, "../..");
const run = promisify(execFile);

/** A stack of one program in a temporary folder, for the real CLI with a file backend. */
class Stack {
  #folder = fs.mkdtempSync(path.join(os.tmpdir(), "webhooks-bench-"));
  #environment;

  constructor({ program, count, emulator }) {
    fs.mkdirSync(path.join(this.#folder, "tmp"));
    const runtime = "runtime: { name: nodejs, options: { typescript: false } }";
    fs.writeFileSync(path.join(this.#folder, "Pulumi.yaml"), `name: bench\n${runtime}\nmain: index.js\n`);
    fs.writeFileSync(path.join(this.#folder, "index.js"), program);
    fs.writeFileSync(path.join(this.#folder, "package.json"), "{}\n");
    fs.symlinkSync(path.join(root, "node_modules"), path.join(this.#folder, "node_modules"));
    const plugins = path.join(this.#folder, "plugins");
    fs.mkdirSync(plugins);
    const plugin = path.join(root, "dist/pulumi-resource-webhooks.js");
    fs.symlinkSync(plugin, path.join(plugins, "pulumi-resource-webhooks"));
    this.#environment = {
      ...process.env,
      PATH: [plugins, findCli(), process.env.PATH].join(path.delimiter),
      TMPDIR: path.join(this.#folder, "tmp"),
      PULUMI_HOME: path.join(this.#folder, "home"),
      PULUMI_BACKEND_URL: `file://${this.#folder}`,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      WEBHOOKS_BASE_URL: emulator.url,
      WEBHOOKS_API_KEY: emulator.apiKey,
      COUNT: String(count),
    };
  }

  async pulumi(...args) {
    const options = { cwd: this.#folder, env: this.#environment, maxBuffer: 2 ** 28 };
    const { stdout } = await run("pulumi", [...args, "--non-interactive", "--color=never"], options);
    return stdout;
  }

  /** Runs a command and returns its time in seconds. */
  async time(...args) {
    const started = process.hrtime.bigint();
    await this.pulumi(...args, "--yes", "--skip-preview", "--suppress-progress");
    return Number(process.hrtime.bigint() - started) / 1e9;
  }

  /** Runs a command, and kills it with its plugins as soon as something is true. */
  async killed(isTime, ...args) {
    const options = { cwd: this.#folder, env: this.#environment, detached: true, stdio: "ignore" };
    const child = spawn("pulumi", [...args, "--yes", "--skip-preview", "--non-interactive"], options);
    const watch = setInterval(() => {
      if (!isTime()) return;
      clearInterval(watch);
      // Plugins have process groups of their own, and are in the session of the command that started them.
      const session = execFileSync("ps", ["-s", String(child.pid), "-o", "pid="], { encoding: "utf8" });
      for (const pid of session.match(/\d+/g) ?? []) process.kill(Number(pid), "SIGKILL");
    }, 1);
    await new Promise((resolve) => child.once("close", resolve));
    clearInterval(watch);
  }

  /** Returns the size of an endpoint in the state, in bytes of compact JSON: with and without the provider's code, and inputs and outputs alone. */
  async stateBytes() {
    const { resources } = JSON.parse(await this.pulumi("stack", "export")).deployment;
    const endpoints = resources.filter(({ urn }) => urn.includes("::endpoint-"));
    const bytes = (value) => Buffer.byteLength(JSON.stringify(value)) / endpoints.length;
    const without = endpoints.map((resource) => {
      const { inputs, outputs, propertyDependencies } = structuredClone(resource);
      for (const properties of [inputs, outputs, propertyDependencies])
        if (properties) delete properties.__provider;
      return { ...resource, inputs, outputs, propertyDependencies };
    });
    const properties = endpoints.map(({ inputs, outputs }) => ({ inputs, outputs }));
    return { bytes: bytes(endpoints), withoutCode: bytes(without), properties: bytes(properties) };
  }

  remove() {
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

module.exports = { Stack };
