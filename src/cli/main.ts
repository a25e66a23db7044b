#!/usr/bin/env node
import { version } from "../../package.json";
import { sleep, systemClock } from "../client/clock";
import { runPulumi } from "../shared/pulumiCommand";
import { COMMANDS } from "./commands";
import { run } from "./run";
import { terminal } from "./terminal";

/** Stops the command at the first signal, and ends the process at the second. */
const stopping = new AbortController();
const stop = (reason: NodeJS.Signals | "EPIPE") => {
  if (stopping.signal.aborted && reason !== "EPIPE") process.exit(130);
  stopping.abort(reason);
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
// Closing its terminal stops a command. Without one, as under nohup, it goes on: Node.js resets what nohup ignores.
process.on("SIGHUP", (signal) => process.stdin.isTTY && stop(signal));
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return stop("EPIPE");
  process.stderr.write(`error: cannot write the output (${error.code}) (UNEXPECTED)\n`);
  process.exit(1);
});
process.stderr.on("error", () => undefined);

void run(process.argv.slice(2), {
  commands: COMMANDS,
  version,
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  terminal,
  signal: stopping.signal,
  runPulumi: (args) => runPulumi(args, { signal: stopping.signal }),
  pause: (milliseconds) => sleep(milliseconds, { clock: systemClock, signal: stopping.signal }),
}).then((status) => {
  // After Ctrl-C, work that nobody waits for may still run.
  if (stopping.signal.aborted) process.exit(status);
  process.exitCode = status;
});
