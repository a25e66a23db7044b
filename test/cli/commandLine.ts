import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { leaked, newSecret } from "../stack/support";

export const MAIN = join(__dirname, "../../dist/cli/main.js");

/** Signing secrets and an API key that no output may hold. */
export const SECRET = newSecret();
export const OTHER_SECRET = newSecret();
export const API_KEY = "key-2b8f6d0c9e4a7153";
const HIDDEN = [SECRET, OTHER_SECRET, API_KEY];

export interface Ended {
  /** Null when a signal ended the process. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: an empty folder. */
  readonly cwd?: string;
  /** Starts a session, so that `signal` reaches the processes that the command starts too, as Ctrl-C does. */
  readonly detached?: boolean;
}

const folders: string[] = [];
const children: Started[] = [];

/** A process of the command. When it ends, its output is searched for secrets. */
export class Started {
  stdout = "";
  stderr = "";
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(
    args: readonly string[],
    private readonly options: StartOptions,
  ) {
    const { detached = false } = options;
    const { cwd, env } = surroundings(options);
    this.child = spawn(process.execPath, [MAIN, ...args], { cwd, env, detached, stdio: "pipe" });
    this.child.stdin?.on("error", () => undefined);
    this.child.stdout?.on("data", (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.ended = once(this.child, "close").then(([status]) => {
      const { stdout, stderr } = this;
      return checked(args, { status, stdout, stderr });
    });
    this.ended.catch(() => undefined);
    children.push(this);
  }

  /** Waits until the command has printed something that matches. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const find = () => pattern.exec(this.stdout + this.stderr);
    await this.untilTrue(() => find() !== null);
    return find() as RegExpExecArray;
  }

  /** Waits until something is true. Fails when the command ends before. */
  async untilTrue(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`The command ended: ${this.stdout}${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  signal(name: NodeJS.Signals): Promise<Ended> {
    const { pid = 0 } = this.child;
    process.kill(this.options.detached === true ? -pid : pid, name);
    return this.ended;
  }
}

export function start(args: readonly string[], options: StartOptions = {}): Started {
  return new Started(args, options);
}

/** The process of `run`, and the command that it runs now. */
let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();
afterAll(async () => {
  if (host?.kill("SIGKILL")) await once(host, "exit");
});

/** Runs a command that needs no process of its own, once the one before has ended. */
export function run(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  const ended = last.then(async () => {
    host ??= fork(join(__dirname, "commandHost.js"), { stdio: "ignore" });
    const answered = once(host, "message");
    host.send({ args, ...surroundings(options) });
    const [answer]: Ended[] = await answered;
    if (answer === undefined) throw new Error("The command's process has ended.");
    return checked(args, answer);
  });
  last = ended.catch(() => undefined);
  return ended;
}

function surroundings({ env = {}, cwd = makeFolder({}) }: StartOptions) {
  const { HOME, PATH } = process.env;
  return { cwd, env: { HOME, PATH, ...env } };
}

/** Searches what a command has printed for secrets. */
function checked(args: readonly string[], ended: Ended): Ended {
  const found = leaked(ended.stdout + ended.stderr, HIDDEN);
  if (found.length > 0) throw new Error(`The command ${args.join(" ")} printed a part of a secret.`);
  return ended;
}

/** Makes a temporary folder with these files. Files in `bin` can be executed. */
export function makeFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "command-"));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
    if (name.startsWith("bin/")) chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

export interface FakeStack {
  /** What `pulumi stack output --json --show-secrets` prints. */
  readonly outputs?: object;
  /** What `pulumi config --json --show-secrets` prints. */
  readonly config?: Readonly<Record<string, string>>;
  /** Makes each command of `pulumi` fail with this line. */
  readonly error?: string;
  /** Makes each command of `pulumi` wait. */
  readonly hangs?: true;
}

/** Makes a folder of a Pulumi program whose selected stack is this one, and the environment that finds its `pulumi`. */
export function stackFolder({
  outputs = {},
  config = {},
  error,
  hangs,
}: FakeStack): Required<Pick<StartOptions, "cwd" | "env">> {
  const values = Object.fromEntries(Object.entries(config).map(([key, value]) => [key, { value }]));
  const script = hangs
    ? "#!/bin/sh\necho hanging >&2\nexec sleep 60\n"
    : error === undefined
      ? `#!/bin/sh
case "$*" in
  "stack output --json --show-secrets"*) cat "$0.outputs" ;;
  "config --json --show-secrets"*) cat "$0.config" ;;
  "stack ls --json"*) echo "[]" ;;
  *) echo "error: unexpected: $*" >&2; exit 255 ;;
esac
`
      : `#!/bin/sh\necho '${error}' >&2\nexit 255\n`;
  const cwd = makeFolder({
    "Pulumi.yaml": "name: test\nruntime: nodejs\n",
    "bin/pulumi": script,
    "bin/pulumi.outputs": JSON.stringify(outputs),
    "bin/pulumi.config": JSON.stringify(values),
  });
  return { cwd, env: { PATH: `${join(cwd, "bin")}:${process.env.PATH}` } };
}

/** Ends what a test has started, and removes its folders. */
export async function cleanUp(): Promise<void> {
  for (const { child } of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
