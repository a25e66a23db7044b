import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findCli } from "../../scripts/setup/cli";

/** The settings of a project in JavaScript, which the CLI need not compile. */
export const JAVASCRIPT =
  "name: test\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.js\n";

/** With characters that no ciphertext of a state has by chance. */
export const API_KEY = "k3y-of-default";

/** That key as `pulumi config set --secret` wrote it with the passphrase of these projects. The command takes a third of a second. */
const WRITTEN = {
  encryptionsalt: "v1:L9SpHuyJDDQ=:v1:qB/82L0l6c7pKSHg:CJRqUbJjgqosditu4/1rNhhTcsUIpg==",
  apiKey: { secure: "v1:NSy0/fD+fvLxJcou:pxHY8Bi7pCLiTAj4BHYoX+uCtvvQ5vxdjQkGsrGB" },
};

/** NODE_OPTIONS with which Pulumi's processes start in a third of the time. */
export const LATER_MODULES = `--require ${JSON.stringify(join(__dirname, "laterModules.cjs"))}`;

interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  /** What the command printed, both streams together, without colours. */
  readonly output: string;
}

/** A resource as the state holds it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly provider?: string;
  /** Whether the program only reads it. */
  readonly external?: boolean;
}

/** A Pulumi Cloud that has a project's stack. */
interface Cloud {
  /** What the CLI needs to use it. */
  readonly environment: Readonly<Record<string, string>>;
  /** All that is at rest. */
  readonly atRest: string;
  /** Returns what the state of a stack holds. */
  stateOf(name: string): { readonly resources?: readonly StateResource[] };
}

export interface ProjectOptions {
  /** The stack's configuration, such as `webhooks:baseUrl`. */
  readonly config?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Where the state is. Default: in a folder. */
  readonly cloud?: Cloud | undefined;
  /** The stack's name in full, there. Default: in the default organization. */
  readonly stackName?: string;
}

/** The arguments of endpoints by name, each with the resource's options under `opts`. */
export type Declared = Readonly<
  Record<string, { readonly opts?: object; readonly [argument: string]: unknown }>
>;

/** The arguments of a production endpoint at this path. */
export const at = (path: string, more: object = {}) => ({
  ...{ url: `https://hooks.example.com/${path}`, type: "production" },
  ...more,
});

/** Endpoints whose names are their paths. */
export const allAt = (paths: readonly string[], more: object = {}): Declared =>
  Object.fromEntries(paths.map((path) => [path, at(path, more)]));

/**
 * A Pulumi project with one stack, `dev`, in a temporary folder, for the real CLI on a file backend or a Pulumi Cloud of its own.
 * Its program declares the endpoints of `declare`, or is what `program` or `write` writes.
 */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "webhooks-engine-"));
  readonly env: NodeJS.ProcessEnv;
  /** Everything that the commands printed. */
  transcript = "";
  /** The stack's name in full, on Pulumi Cloud. */
  readonly stackName: string;
  #config: Readonly<Record<string, string>>;
  #cloud: Cloud | undefined;
  #stack: Promise<void> | undefined;

  constructor({ config = {}, env = {}, cloud, stackName = "acme/test/dev" }: ProjectOptions = {}) {
    this.stackName = stackName;
    this.#config = config;
    this.#cloud = cloud;
    const backend = {
      PULUMI_BACKEND_URL: `file://${join(this.folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
    };
    const bin = findCli();
    if (bin === undefined)
      throw new Error("The Pulumi CLI is missing: run `node scripts/setup.js --for test`.");
    const path = (process.env.PATH ?? "").split(delimiter);
    this.env = {
      HOME: process.env.HOME,
      // Not with the package's own commands, which npm links there if it installs after a build.
      PATH: [bin, ...path.filter((each) => !each.endsWith("node_modules/.bin"))].join(delimiter),
      NODE_OPTIONS: LATER_MODULES,
      // The language host leaves its pipes there.
      TMPDIR: join(this.folder, "tmp"),
      PULUMI_HOME: join(this.folder, "home"),
      // The official CLI's language host sets the last one. The one that is built here does not.
      ...(cloud ? { ...cloud.environment, PULUMI_NODEJS_ROOT_DIRECTORY: this.folder } : backend),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      // Type-checking takes three seconds a command. `npm run check`, snippets.test.ts and, through Pulumi, programs.test.ts do it.
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      // A command is too short for Go's collector to pay off.
      GOGC: "off",
      ...env,
    };
    for (const name of ["backend", "tmp"]) mkdirSync(join(this.folder, name));
    this.useModules(join(__dirname, "../../node_modules"));
    this.write("Pulumi.yaml", JAVASCRIPT);
    this.write("package.json", "{}\n");
    this.declare({});
  }

  /** Makes these the packages that the program finds. At first, they are this repository's, and the package as it stands here. */
  useModules(modules: string): void {
    const link = join(this.folder, "node_modules");
    rmSync(link, { force: true });
    symlinkSync(modules, link);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Makes these endpoints the program, with more code before them. */
  declare(endpoints: Declared, code = ""): void {
    this.program(`${code}
for (const [name, { opts, ...args }] of Object.entries(${JSON.stringify(endpoints)}))
  new WebhookEndpoint(name, args, opts);
`);
  }

  /** Makes this the program. `pulumi` and the package's names are there. */
  program(text: string): void {
    this.write(
      "index.js",
      `const pulumi = require("@pulumi/pulumi");
const { ReceiverValidation, WebhookEndpoint, WebhooksProvider, getWebhookEndpoint, getWebhookEndpoints } = require("pulumi-webhook-endpoints");
${text}`,
    );
  }

  /** Makes the stack, unless it is there. */
  makeStack(): Promise<void> {
    this.#stack ??= this.#makeStack();
    return this.#stack;
  }

  /** Runs a command in the project's folder and environment. The first one makes the stack. */
  async run(command: string, ...args: string[]): Promise<CommandResult> {
    await this.makeStack();
    return this.#exec(command, args);
  }

  pulumi = (...args: string[]) => this.run("pulumi", ...args, "--non-interactive", "--color=never");

  /** Runs a command that must succeed. */
  async succeed(...args: string[]): Promise<string> {
    return outputOfSuccess(await this.pulumi(...args), args);
  }

  /** Runs a command that must fail, and returns what it printed: for its reader, so without the stack of an error. */
  async fail(...args: string[]): Promise<string> {
    const { exitCode, output } = await this.pulumi(...args);
    if (exitCode === 0) throw new Error(`pulumi ${args.join(" ")} did not fail:\n${output}`);
    expect(output).not.toMatch(/\n\s+at /);
    return output;
  }

  preview = (...args: string[]) => this.succeed("preview", ...args);
  up = (...args: string[]) => this.succeed("up", "--yes", "--skip-preview", ...args);
  failUp = (...args: string[]) => this.fail("up", "--yes", "--skip-preview", ...args);
  refresh = (...args: string[]) => this.succeed("refresh", "--yes", "--skip-preview", ...args);
  destroy = (...args: string[]) => this.succeed("destroy", "--yes", "--skip-preview", ...args);

  /** What the state holds, from the backend. */
  state(): { readonly resources?: readonly StateResource[] } {
    if (this.#cloud) return this.#cloud.stateOf(this.stackName);
    const text = readFileSync(join(this.folder, "backend/.pulumi/stacks/test/dev.json"), "utf8");
    return JSON.parse(text).checkpoint.latest ?? {};
  }

  /** The endpoints that the state holds, but for what the program only reads, by the name of their resource. */
  endpoints(): Record<string, StateResource> {
    const { resources = [] } = this.state();
    return Object.fromEntries(
      resources
        .filter(({ type, external }) => type.endsWith(":WebhookEndpoint") && external !== true)
        .map((resource) => [resource.urn.split("::").at(-1) ?? "", resource]),
    );
  }

  /** The ids of these endpoints. */
  ids(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.endpoints()).map(([name, { id = "" }]) => [name, id]));
  }

  /** The stack's outputs. Secrets read `[secret]`. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.succeed("stack", "output", "--json"));
  }

  /** Frees the stack, which a killed run has left locked. */
  async unlock(): Promise<void> {
    if (this.#cloud) await this.succeed("cancel", "--yes");
    else rmSync(join(this.folder, "backend/.pulumi/locks"), { recursive: true, force: true });
  }

  /** The text of every file that the backend keeps and of the stack's settings: all that is at rest. */
  filesAtRest(): string {
    const backend = readdirSync(join(this.folder, "backend"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const settings = readdirSync(this.folder).filter((name) => /^Pulumi\..*yaml$/.test(name));
    return [...backend, ...settings.map((name) => join(this.folder, name))]
      .map((path) => readFileSync(path, "utf8"))
      .join("\n")
      .concat(this.#cloud?.atRest ?? "");
  }

  /** Checks that these secrets are nowhere at rest and were not printed. */
  expectHidden(...secrets: string[]): void {
    const texts = this.filesAtRest() + this.transcript;
    // A signing secret may have lost its prefix.
    expect(secrets.filter((secret) => texts.includes(secret.replace(/^whsec_/, "")))).toEqual([]);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #makeStack(): Promise<void> {
    const commands = [["stack", "init", this.#cloud ? this.stackName : "dev"]];
    if (this.#config["webhooks:apiKey"] === API_KEY && !this.#cloud) {
      const { encryptionsalt, apiKey } = WRITTEN;
      const config = { ...this.#config, "webhooks:apiKey": apiKey };
      this.write("Pulumi.dev.yaml", JSON.stringify({ encryptionsalt, config }));
    } else {
      const settings = Object.entries(this.#config).flatMap(([key, value]) => [
        // Keys are secrets, as users are told to set them.
        key.endsWith("apiKey") ? "--secret" : "--plaintext",
        `${key}=${value}`,
      ]);
      if (settings.length > 0) commands.push(["config", "set-all", ...settings]);
    }
    for (const args of commands) outputOfSuccess(await this.#exec("pulumi", args), args);
  }

  #exec(command: string, args: readonly string[]): Promise<CommandResult> {
    const options = { cwd: this.folder, env: this.env, maxBuffer: 64 * 2 ** 20 };
    return new Promise((resolve) => {
      const child = execFile(command, args, options, (error, out, err) => {
        const exitCode = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        this.transcript += out + err;
        resolve({ exitCode, stdout: out, output: out + err });
      });
      child.stdin?.end();
    });
  }
}

function outputOfSuccess({ exitCode, output }: CommandResult, args: readonly string[]): string {
  if (exitCode !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${exitCode}:\n${output}`);
  return output;
}
