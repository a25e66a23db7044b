import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Project } from "../engine/project";
import { root } from "./pages";

/** Bash reads ~/.bashrc, whatever a developer has there, if its input is a socket, as it is from Node. */
const SHELL = ["--norc", "-c"];

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A terminal of a reader who follows a page: it runs commands one after the other, and at the end perhaps one that keeps running. */
export class Terminal {
  /** The output of the command that keeps running. */
  printed = "";
  #seen = 0;
  #child: ChildProcess | undefined;

  constructor(private readonly options: TerminalOptions) {}

  /** Runs a command, with what a person would type in answer to it. */
  run(command: string, answer = ""): Promise<{ readonly hasFailed: boolean; readonly output: string }> {
    return new Promise((resolve) => {
      const child = execFile("bash", [...SHELL, command], this.options, (error, out, err) =>
        resolve({ hasFailed: error !== null, output: `${out}${err}` }),
      );
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(answer);
    });
  }

  /** Starts a command that keeps running. */
  start(command: string): void {
    const child = spawn("bash", [...SHELL, command], { ...this.options, detached: true, stdio: "pipe" });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        this.printed += chunk;
      });
    this.#child = child;
  }

  /** Types a line into the command that keeps running. */
  type(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }

  /** Waits until the command that keeps running has printed something since the last wait that matches. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.printed.slice(this.#seen));
      if (found !== null) {
        this.#seen += found.index + found[0].length;
        return found;
      }
      if (this.#child?.exitCode !== null) throw new Error(`The command ended: ${this.printed}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async end(): Promise<void> {
    const { pid = 0, exitCode } = this.#child ?? {};
    if (this.#child === undefined || exitCode !== null) return;
    process.kill(-pid, "SIGTERM");
    await once(this.#child, "exit");
  }
}

/** Puts an `npm` on PATH that only notes how it was called, as the packages are linked already, and an `npx` that runs the command. */
export function fakeNpm(project: Project): { readonly bin: string; readonly calls: string } {
  const bin = join(project.folder, "bin");
  const calls = join(project.folder, "npm-calls");
  mkdirSync(bin);
  project.write("bin/npm", `#!/bin/sh\necho "$@" >> '${calls}'\n`);
  project.write("bin/npx", `#!/bin/sh\nshift\nexec node '${join(root, "dist/cli/main.js")}' "$@"\n`);
  for (const name of ["npm", "npx"]) chmodSync(join(bin, name), 0o755);
  return { bin, calls };
}

/**
 * Returns a port that nothing listens on. Other tests may listen on the ports of a page at the same time. Nothing takes it until it is
 * used: it is below those that a system gives out.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 30_000);
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return freePort();
  }
  await once(server.close(), "close");
  return port;
}
