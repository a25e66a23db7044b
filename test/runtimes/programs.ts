import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { compileFolder, type Project } from "../receiver/readme/app";
import { follow, type Output } from "../receiver/readme/output";
import { secret } from "../receiver/support";

/** A program that a runtime runs, and that listens. */
export interface Running extends Output {
  readonly port: number;
}

/** Starts `app.ts` of the files of a project: it writes its port, or exports what Cloudflare Workers call. */
type Start = (files: Project["files"]) => Promise<Running>;

const binary = (name: string) => join(__dirname, "node_modules/.bin", name);

const WEBHOOK_RECEIVER = JSON.stringify({ version: 1, secrets: [secret] });

const started =
  (file: string, ...args: string[]): Start =>
  (files) => {
    const cwd = compileFolder({ files, packages: {} });
    // By itself, Bun listens at 3000, and Deno at 8000 and has a cache in the home folder.
    const settings = { BUN_PORT: "0", DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0", DENO_DIR: join(cwd, "deno") };
    const env = { ...process.env, ...settings, WEBHOOK_RECEIVER };
    return run(spawn(file, [...args, "app.js"], { cwd, env }));
  };

export const startNode = started(process.execPath);
export const startBun = started(binary("bun"));
export const startDeno = started(binary("deno"), "run", "--no-prompt", "--allow-env", "--allow-net");

/** What Wrangler tells esbuild. Wrangler itself needs Node 22. */
const AS_WRANGLER: BuildOptions = {
  bundle: true,
  format: "esm",
  conditions: ["workerd", "worker", "browser"],
  external: ["node:*"],
  target: "es2022",
};

/** Bundles a program for Cloudflare Workers, and runs the bundle in their runtime, as of a date. */
export const startWorkerOf =
  (compatibilityDate: string): Start =>
  async (files) => {
    const cwd = compileFolder({ files, packages: {} });
    await build({ ...AS_WRANGLER, entryPoints: [join(cwd, "app.js")], outfile: join(cwd, "worker.js") });
    const config = `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = .worker)],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
    );
    const worker :Workerd.Worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "${compatibilityDate}",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [
        (name = "WEBHOOK_SECRET", text = ${JSON.stringify(secret)}),
        (name = "WEBHOOK_RECEIVER", text = ${JSON.stringify(WEBHOOK_RECEIVER)}),
      ],
    );`;
    writeFileSync(join(cwd, "config.capnp"), config);
    const args = ["serve", "config.capnp", "--control-fd=3"];
    return run(spawn(binary("workerd"), args, { cwd, stdio: ["ignore", "pipe", "pipe", "pipe"] }));
  };

/** Waits for the port of a program. */
async function run(child: ChildProcess): Promise<Running> {
  const output = follow(child);
  const line = await output.written(/^port \d|"event":"listen"/);
  return { ...output, port: Number(/^port (\d+)|"port":(\d+)/.exec(line)?.slice(1).join("")) };
}
