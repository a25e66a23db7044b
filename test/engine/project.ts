import { type ChildProcess, execFile, fork } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { findCli } from "../../scripts/setup/cli";
import { addressOf, startKeyService } from "./keyService";

const root = join(__dirname, "../..");

export interface CommandResult {
  readonly exitCode: number;
  /** What the command printed, both streams together, without colours. */
  readonly output: string;
}

/** A resource as `pulumi stack export` shows it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly custom: boolean;
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly delete?: boolean;
  readonly provider?: string;
}

export interface Deployment {
  readonly resources?: readonly StateResource[];
  readonly pending_operations?: readonly { readonly type: string; readonly resource: StateResource }[];
}

export interface ProjectOptions {
  /** The stack's configuration, such as `webhooks:baseUrl`. */
  readonly config?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The packages that the program finds. Default: this repository's, and the package as it stands here. */
  readonly modules?: string;
}

/** The arguments of endpoints by name, each with the resource's options under `opts`. */
export type Declared = Readonly<
  Record<string, { readonly opts?: object; readonly [argument: string]: unknown }>
>;

/** The files of stacks that the CLI has just made, by what they depend on. */
const newStacks = new Map<string, Promise<ReadonlyMap<string, string>>>();

/**
 * A Pulumi project of its own with one stack, in a temporary folder, for the real CLI on a file backend.
 * Its program declares the endpoints of `declare`, or is what `write` writes.
 */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "webhooks-engine-"));
  readonly env: NodeJS.ProcessEnv;
  /** Everything that the commands printed. */
  transcript = "";
  #config: Record<string, string>;
  #isInline = false;
  /** The host of inline programs, with the environment that it was given, and its port. */
  #host: { readonly process: ChildProcess; readonly env: string; readonly port: Promise<number> } | undefined;
  #keyService: Server | undefined;

  constructor({ config = {}, env = {}, modules = join(root, "node_modules") }: ProjectOptions = {}) {
    this.#config = { ...config };
    const bin = findCli();
    if (bin === undefined)
      throw new Error("The Pulumi CLI is missing: run `node scripts/setup.js --for test`.");
    const path = (process.env.PATH ?? "").split(delimiter);
    this.env = {
      HOME: process.env.HOME,
      // Not with the package's own commands, which npm links there if it installs after a build.
      PATH: [bin, ...path.filter((each) => !each.endsWith("node_modules/.bin"))].join(delimiter),
      NODE_OPTIONS: `--require ${JSON.stringify(join(__dirname, "laterModules.cjs"))}`,
      // The language host leaves its pipes there.
      TMPDIR: join(this.folder, "tmp"),
      PULUMI_HOME: join(this.folder, "home"),
      PULUMI_BACKEND_URL: `file://${join(this.folder, "backend")}`,
      // For stacks that a test makes itself.
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      // A command is too short for Go's collector to pay off.
      GOGC: "off",
      ...env,
    };
    for (const name of ["backend", "tmp"]) mkdirSync(join(this.folder, name));
    symlinkSync(modules, join(this.folder, "node_modules"));
    this.write(
      "Pulumi.yaml",
      "name: test\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n",
    );
    this.write("package.json", "{}\n");
    this.declare({});
  }

  write(name: string, text: string): void {
    if (/^(Pulumi\.yaml|index\..*)$/.test(name)) this.#isInline = false;
    writeFileSync(join(this.folder, name), text);
  }

  /** Makes these endpoints the program, which runs inline. */
  declare(endpoints: Declared): void {
    this.write("endpoints.json", JSON.stringify(endpoints));
    this.inlineProgram(
      'for (const [name, { opts, ...args }] of Object.entries(require("./endpoints.json"))) new WebhookEndpoint(name, args, opts);\n',
    );
  }

  /** Makes this the program. `pulumi` and the package's names are there. It runs in Pulumi's language host, as with users. */
  program(text: string): void {
    this.write(
      "index.js",
      `const pulumi = require("@pulumi/pulumi");
const { WebhookEndpoint, WebhooksProvider, getWebhookEndpoint, getWebhookEndpoints } = require("pulumi-webhook-endpoints");
${text}`,
    );
  }

  /**
   * Makes this the program, which runs as an inline program of the Automation API does. That saves half a second of each `up`
   * and `preview`. What fails in the program itself, and not in the engine, may come too late to be reported.
   */
  inlineProgram(text: string): void {
    this.program(text);
    this.#isInline = true;
  }

  /** Runs the CLI. The stack is made first, when there is none yet. */
  async pulumi(...args: string[]): Promise<CommandResult> {
    await this.#init();
    return this.#exec(args);
  }

  /** Runs a command that must succeed. */
  async succeed(...args: string[]): Promise<string> {
    await this.#init();
    return this.#mustExec(args);
  }

  /** Runs a command that must fail, and returns what it printed. */
  async fail(...args: string[]): Promise<string> {
    const { exitCode, output } = await this.pulumi(...args);
    if (exitCode === 0) throw new Error(`pulumi ${args.join(" ")} did not fail:\n${output}`);
    return output;
  }

  preview = (...args: string[]) => this.succeed("preview", ...args);
  up = (...args: string[]) => this.succeed("up", "--yes", "--skip-preview", ...args);
  refresh = (...args: string[]) => this.succeed("refresh", "--yes", "--skip-preview", ...args);
  destroy = (...args: string[]) => this.succeed("destroy", "--yes", "--skip-preview", ...args);

  /** What the state holds, from the backend's file. */
  async state(): Promise<Deployment> {
    await this.#init();
    const backend = fileURLToPath(this.env.PULUMI_BACKEND_URL ?? "");
    const text = readFileSync(join(backend, ".pulumi/stacks/test/dev.json"), "utf8");
    const { checkpoint }: { checkpoint: { latest?: Deployment } } = JSON.parse(text);
    return checkpoint.latest ?? {};
  }

  /** The stack's outputs. Secrets read `[secret]`. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.succeed("stack", "output", "--json"));
  }

  /** The URN of an endpoint, by the name of its resource. */
  urn(name: string): string {
    return `urn:pulumi:dev::test::pulumi-nodejs:dynamic/webhooks:WebhookEndpoint::${name}`;
  }

  /** The text of every file that the backend keeps and of the stack's settings: all that is at rest. */
  filesAtRest(): string {
    return [...this.#textsAtRest().values()].join("\n");
  }

  /** The endpoints that the state holds, by the name of their resource. */
  async endpoints(): Promise<Record<string, StateResource>> {
    const { resources = [] } = await this.state();
    return Object.fromEntries(
      resources
        .filter(({ type }) => type.endsWith(":WebhookEndpoint"))
        .map((resource) => [resource.urn.split("::").at(-1) ?? "", resource]),
    );
  }

  dispose(): void {
    this.#host?.process.kill();
    this.#keyService?.closeAllConnections();
    this.#keyService?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #made: Promise<void> | undefined;
  #init(): Promise<void> {
    this.#made ??= this.#makeStack();
    return this.#made;
  }

  /** Makes the stack `dev`: copies one that the CLI made with the same secrets, if there is one, which is sooner done. */
  async #makeStack(): Promise<void> {
    const secrets = Object.entries(this.#config).filter(([key]) => isSecret(key));
    this.#keyService = await startKeyService();
    this.env.VAULT_ADDR = addressOf(this.#keyService);
    const { PULUMI_BACKEND_URL: url = "" } = this.env;
    const kind = JSON.stringify([url.replace(this.folder, ""), secrets]);
    // A backend of somebody else's stays apart.
    const made = url.includes(this.folder) ? newStacks.get(kind) : undefined;
    if (made === undefined) {
      const making = this.#initStack(secrets).then(() => this.#textsAtRest());
      newStacks.set(kind, making);
      await making;
    } else {
      for (const [path, text] of await made) {
        if (path === "Pulumi.yaml") continue;
        mkdirSync(dirname(join(this.folder, path)), { recursive: true });
        writeFileSync(join(this.folder, path), text);
      }
      await this.#mustExec(["stack", "select", "dev"]);
    }
    const plain = Object.entries(this.#config).filter(([key]) => !isSecret(key));
    const lines = plain.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`);
    if (secrets.length === 0 && lines.length > 0) lines.unshift("config:\n");
    appendFileSync(join(this.folder, "Pulumi.dev.yaml"), lines.join(""));
  }

  async #initStack(secrets: readonly (readonly [string, string])[]): Promise<void> {
    await this.#mustExec(["stack", "init", "dev", "--secrets-provider", "hashivault://test"]);
    const settings = secrets.flatMap(([key, value]) => ["--secret", `${key}=${value}`]);
    if (settings.length > 0) await this.#mustExec(["config", "set-all", ...settings]);
  }

  /** The text of each file of the backend, and of the settings, by its path in the folder. */
  #textsAtRest(): ReadonlyMap<string, string> {
    const files = readdirSync(join(this.folder, "backend"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.folder, join(entry.parentPath, entry.name)));
    const settings = readdirSync(this.folder).filter((name) => /^Pulumi\..*yaml$/.test(name));
    return new Map(
      [...files, ...settings].map((path) => [path, readFileSync(join(this.folder, path), "utf8")]),
    );
  }

  async #mustExec(args: readonly string[]): Promise<string> {
    const { exitCode, output } = await this.#exec(args);
    if (exitCode !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${exitCode}:\n${output}`);
    return output;
  }

  /** Returns the options with which the CLI finds the inline program. */
  async #client([command, ...args]: readonly string[]): Promise<string[]> {
    const runsProgram = command === "up" || command === "preview" || args.includes("--run-program");
    if (!this.#isInline || !runsProgram) return [];
    const env = JSON.stringify(this.env);
    if (this.#host?.env !== env || this.#host.process.exitCode !== null) {
      this.#host?.process.kill();
      this.#host = { ...this.#startHost(), env };
    }
    return [`--client=127.0.0.1:${await this.#host.port}`, "--exec-kind=auto.inline"];
  }

  #startHost() {
    const child = fork(join(__dirname, "programHost.js"), [realpathSync(this.folder)], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text) => {
        this.transcript += text;
      });
    const port = new Promise<number>((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", (code) => reject(new Error(`the host of programs ended with ${code}`)));
    });
    child.unref();
    child.channel?.unref();
    return { process: child, port };
  }

  async #exec(args: readonly string[]): Promise<CommandResult> {
    const client = await this.#client(args);
    return new Promise((resolve) => {
      const options = { cwd: this.folder, env: this.env, maxBuffer: 64 * 2 ** 20 };
      const child = execFile(
        "pulumi",
        [...args, ...client, "--non-interactive", "--color=never"],
        options,
        (error, out, err) => {
          const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          this.transcript += out + err;
          resolve({ exitCode, output: out + err });
        },
      );
      child.stdin?.end();
    });
  }
}

/** Keys are secrets, as users are told to set them. */
function isSecret(key: string): boolean {
  return key.endsWith("apiKey");
}
