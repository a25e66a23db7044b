import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSync } from "esbuild";

const root = resolve(__dirname, "../../..");
const installed = resolve(__dirname, "../node_modules");
const HOST = join(root, "test/receiver/readme/host.mjs");

/** A program of a recipe that runs. */
export interface Running {
  /** The lines printed so far. */
  readonly lines: readonly string[];
  /** The URL of a program that listens. */
  readonly url: Promise<string>;
  /** Ends it as a platform does, and returns its exit status. */
  terminate(): Promise<number | null>;
  ended(): Promise<number | null>;
  /** Resolves once a line that it printed contains this. */
  printed(text: string): Promise<void>;
}

/** A copy of a recipe, compiled, with the packages that the tests of queues installed. */
export class Recipe {
  readonly #folder = mkdtempSync(join(tmpdir(), "recipe-"));
  readonly #running: Running[] = [];

  constructor(
    name: string,
    readonly env: Readonly<Record<string, string>>,
  ) {
    const from = join(root, "examples/recipes", name);
    const packages = join(this.#folder, "node_modules");
    mkdirSync(packages);
    for (const each of readdirSync(installed))
      symlinkSync(join(installed, each), join(packages, each), "dir");
    symlinkSync(root, join(packages, "pulumi-webhook-endpoints"), "dir");
    const sources = readdirSync(from).filter((file) => file.endsWith(".ts") && file !== "index.ts");
    buildSync({ entryPoints: sources.map((file) => join(from, file)), outdir: this.#folder, format: "esm" });
    writeFileSync(join(this.#folder, "package.json"), JSON.stringify({ type: "module" }));
  }

  /** Adds a program of the test's own. */
  add(file: string, code: string): void {
    writeFileSync(join(this.#folder, file), code);
  }

  run(file: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = this.env): Running {
    const program = join(this.#folder, file);
    const script = file === "receiver.js" ? [HOST, program] : [program, ...args];
    const quiet = { NODE_NO_WARNINGS: "1", AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" };
    const child = spawn(process.execPath, script, {
      cwd: this.#folder,
      env: { ...process.env, ...quiet, ...env },
      stdio: ["ignore", "pipe", "pipe", ...(file === "receiver.js" ? ["ipc" as const] : [])],
    });
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null) createInterface({ input: stream }).on("line", (line) => lines.push(line));
    const ended = once(child, "close").then(([code]): number | null => code);
    const url = once(child, "message").then(([message]) => `http://127.0.0.1:${message.port}/`);
    url.catch(() => {});
    const running: Running = {
      lines,
      url,
      ended: () => ended,
      async printed(text) {
        while (!lines.some((line) => line.includes(text))) {
          if (child.exitCode !== null)
            throw new Error(`${file} ended without printing ${text}:\n${lines.join("\n")}`);
          await sleep(20);
        }
      },
      terminate() {
        // The host of a receiver keeps its process running.
        child.kill(file === "receiver.js" ? "SIGKILL" : "SIGTERM");
        return ended;
      },
    };
    this.#running.push(running);
    return running;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#running.map((each) => each.terminate()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
