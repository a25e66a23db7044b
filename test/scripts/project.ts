import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { languageSet } from "../../scripts/setup/languages";

export interface Run {
  status: number | null;
  output: string;
}
interface SetUpOptions {
  purpose?: string;
  env?: Record<string, string>;
}

/** A checkout of set-up's own files, where every command is a fake that notes its name. */
export class Project {
  readonly root = fs.mkdtempSync(join(tmpdir(), "setup-"));
  readonly #home = join(this.root, "pulumi-home");
  readonly versions = join(this.#home, "versions");
  /** Where set-up installs the CLI. */
  readonly bin = join(this.versions, "3.255.0/bin");
  readonly #running = new Set<number>();

  constructor() {
    fs.cpSync(resolve(__dirname, "../../scripts"), join(this.root, "scripts"), { recursive: true });
    fs.cpSync(join(__dirname, "fakes.js"), join(this.root, "fakes.js"));
    fs.mkdirSync(join(this.#home, "languages", languageSet), { recursive: true });
    const devDependencies = { pulumi: "3.255.0", "@pulumi/pulumi": "3.248.0" };
    const index = { types: "./dist/index.d.ts", default: "./dist/index.js" };
    const exported = { ".": { import: { default: "./dist/index.mjs" }, require: index } };
    const manifest = { engines: { node: ">=20.18.1" }, exports: exported, devDependencies };
    this.write("package.json", JSON.stringify(manifest));
    const packages = { "": {}, "node_modules/pulumi": { version: "3.255.0" } };
    this.write("package-lock.json", JSON.stringify({ packages }));
    for (const file of ["tsconfig.json", "tsconfig.build.json"]) this.write(file, "{}");
    this.write("src/index.ts", "");
    this.write("src/signature/index.ts", "");
    for (const name of ["npm", "go", "apt-cache", "apt-get", "dpkg-deb"])
      this.command(name, `require("../fakes.js")["${name}"]();`);
  }

  write(file: string, text: string): void {
    fs.mkdirSync(dirname(join(this.root, file)), { recursive: true });
    fs.writeFileSync(join(this.root, file), text);
  }

  /** Puts a command on the PATH of set-up. */
  command(name: string, body: string): void {
    this.write(join("commands", name), `#!${process.execPath}\n${body}`);
    fs.chmodSync(join(this.root, "commands", name), 0o755);
  }

  start({ purpose = "demo", env = {} }: SetUpOptions = {}) {
    const child = spawn(process.execPath, [join(this.root, "scripts/setup.js"), "--for", purpose], {
      cwd: this.root,
      env: { PATH: join(this.root, "commands"), HOME: this.root, PULUMI_HOME: this.#home, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const pid = child.pid ?? 0;
    this.#running.add(pid);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const ended = new Promise<Run>((settle) =>
      child.on("exit", (status) => {
        this.#running.delete(pid);
        // What it printed last may still be on its way. A command that outlives a kill of set-up holds the output open.
        if (status === null) settle({ status, output });
        else child.on("close", () => settle({ status, output }));
      }),
    );
    return { ended, kill: (signal: NodeJS.Signals) => child.kill(signal) };
  }

  setUp(options?: SetUpOptions): Promise<Run> {
    return this.start(options).ended;
  }

  /** Returns the commands that set-up has run since the last call. */
  takeCalls(): string[] {
    const calls = join(this.root, "calls");
    const taken = fs.existsSync(calls) ? fs.readFileSync(calls, "utf8").trimEnd().split("\n") : [];
    fs.rmSync(calls, { force: true });
    return taken;
  }

  /** Returns whether a command of set-up still runs, such as one that hangs. */
  isBusy(): boolean {
    return spawnSync("ps", ["-A", "-o", "args="], { encoding: "utf8" }).stdout.includes(this.root);
  }

  /** Waits until a command hangs, and returns its process number. */
  async hanging(): Promise<number> {
    const file = join(this.root, "hanging");
    await until(() => fs.existsSync(file));
    const pid = Number(fs.readFileSync(file, "utf8"));
    fs.rmSync(file);
    this.#running.add(pid);
    return pid;
  }

  /** Ends the processes that are still running, and removes the files. */
  remove(): void {
    for (const pid of this.#running) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}

/** Waits until a condition holds. Throws if it doesn't within 100 seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 100_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`this never came true: ${holds}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
