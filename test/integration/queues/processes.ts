import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import type { ProgramMessage, ProgramOptions } from "./program";

export interface Started {
  readonly pid: number;
  /** The URL of a receiver. */
  readonly url: string;
  kill(): Promise<void>;
}

/** Bundled once for each process that starts programs, as compiling it for each start takes seconds. Next to the packages it loads. */
let bundle: string | undefined;
function bundled(): string {
  if (bundle !== undefined) return bundle;
  const outfile = join(__dirname, `../node_modules/.programs/${process.pid}.js`);
  const entryPoints = [join(__dirname, "program.ts")];
  buildSync({ entryPoints, outfile, bundle: true, platform: "node", packages: "external" });
  process.once("exit", () => rmSync(outfile, { force: true }));
  bundle = outfile;
  return bundle;
}

const QUIET = { NODE_NO_WARNINGS: "1", AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" };

/** Starts a program, and waits until it is ready. */
export async function startProgram(options: ProgramOptions): Promise<Started> {
  const child = fork(bundled(), [JSON.stringify(options)], {
    execArgv: [],
    env: { ...process.env, ...QUIET },
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => {
      if (options.role === "prepare" && code === 0) resolve("");
      else reject(new Error(`The ${options.role} ended with ${code} before it was ready.`));
    });
    child.once("message", (message: ProgramMessage) => resolve(message.url));
  });
  return {
    pid: child.pid ?? 0,
    url,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
