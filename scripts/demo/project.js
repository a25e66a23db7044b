const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { findCli } = require("../setup/cli");
const { root } = require("../setup/tools");

/** A copy of the quick start in a temporary folder, which also holds the stack's state. */
class Project {
  #folder;
  #quote;
  #environment;
  #child;
  #stopped = false;

  /** `settings` are environment variables. `quote` gets each line that the CLI prints. */
  constructor({ settings, quote }) {
    const bin = findCli();
    if (bin === undefined) throw new Error("the Pulumi CLI is missing; `npm run demo` sets it up first");
    this.#quote = quote;
    this.#folder = fs.mkdtempSync(path.join(os.tmpdir(), "webhooks-demo-"));
    this.workDir = path.join(this.#folder, "quickstart");
    const quickstart = path.join(root, "examples/quickstart");
    fs.mkdirSync(this.workDir);
    for (const name of ["Pulumi.yaml", "index.ts", "package.json"])
      fs.copyFileSync(path.join(quickstart, name), path.join(this.workDir, name));
    fs.symlinkSync(path.join(root, "node_modules"), path.join(this.workDir, "node_modules"));
    this.#environment = { ...environmentIn(this.#folder, bin), ...settings };
  }

  /** Gives this process the project's environment, for code that runs the CLI itself, such as `receiverFromStack`. */
  shareEnvironment() {
    for (const name of Object.keys(process.env)) if (!(name in this.#environment)) delete process.env[name];
    Object.assign(process.env, this.#environment);
  }

  /** Runs the CLI as a person would, and shows its output. The arguments in `hide` are shown as `…`. */
  async pulumi(args, { hide = [], quiet = false } = {}) {
    if (!quiet) this.#quote(`$ pulumi ${args.map((arg) => (hide.includes(arg) ? "…" : arg)).join(" ")}`);
    const lines = [];
    const show = (line) => {
      lines.push(line);
      // At most one blank line in a row, and none at the start.
      if (!quiet && (line.trim() !== "" || (lines.at(-2) ?? "").trim() !== "")) this.#quote(line);
    };
    const code = await this.#run([...args, "--non-interactive", "--color=never"], show);
    if (code !== 0)
      throw new Error(`pulumi ${args[0]} ended with ${code}${quiet ? `:\n${lines.join("\n")}` : ""}`);
    return lines.join("\n");
  }

  #run(args, show) {
    if (this.#stopped) return Promise.reject(new Error("the demo was stopped"));
    return new Promise((resolve, reject) => {
      // In its own process group, so that Ctrl-C reaches it only once, from here.
      const options = {
        cwd: this.workDir,
        env: this.#environment,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      };
      const child = spawn("pulumi", args, options);
      this.#child = child;
      for (const stream of [child.stdout, child.stderr])
        require("node:readline").createInterface({ input: stream }).on("line", show);
      child.once("error", reject);
      child.once("close", (code) => {
        this.#child = undefined;
        resolve(code);
      });
    });
  }

  /** Stops the running command as Ctrl-C would: the CLI then stops its plugins too. */
  async stop() {
    this.#stopped = true;
    const child = this.#child;
    if (child === undefined) return;
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGINT");
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), 15_000);
    await closed;
    clearTimeout(timer);
  }

  remove() {
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns the CLI's environment: no settings of other stacks and services, and a place in `folder` for everything it writes. */
function environmentIn(folder, bin) {
  const temporary = path.join(folder, "tmp");
  fs.mkdirSync(temporary);
  const others = Object.entries(process.env).filter(([name]) => !/^(PULUMI|WEBHOOKS)_/.test(name));
  return {
    ...Object.fromEntries(others),
    PATH: [bin, process.env.PATH].join(path.delimiter),
    TMPDIR: temporary,
    // The service is on this machine.
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    PULUMI_HOME: path.join(folder, "home"),
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_CONFIG_PASSPHRASE: "demo",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    // Type-checking takes three seconds a command, and `npm run check` does it.
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
}

module.exports = { Project };
