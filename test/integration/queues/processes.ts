import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import type { ProgramMessage, ProgramOptions } from "./program";

export interface Started {
  readonly child: ChildProcess;
  /** The URL of a receiver. */
  readonly url: string;
  kill(): Promise<void>;
}

/** Bundled once for each process that starts programs, as compiling it for each start takes seconds. Next to the packages it loads. */
let bundle: string | undefined;
function bundled(): string {
  if (bundle !== undefined) return bundle;
  bundle = join(__dirname, `../node_modules/.programs/${process.pid}.js`);
  const outfile = bundle;
  buildSync({
    entryPoints: [join(__dirname, "program.ts")],
    outfile,
    bundle: true,
    platform: "node",
    packages: "external",
  });
  process.once("exit", () => rmSync(outfile, { force: true }));
  return bundle;
}

/** Starts a program, and waits until it is ready. */
export async function startProgram(options: ProgramOptions): Promise<Started> {
  const env = {
    ...process.env,
    NODE_NO_WARNINGS: "1",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
  const child = fork(bundled(), [JSON.stringify(options)], { execArgv: ["--expose-gc"], env });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => {
      if (options.role === "prepare" && code === 0) resolve("");
      else reject(new Error(`The ${options.role} ended with ${code} before it was ready.`));
    });
    child.once("message", (message: ProgramMessage) =>
      resolve(typeof message === "object" && "url" in message ? message.url : ""),
    );
  });
  return {
    child,
    url,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
