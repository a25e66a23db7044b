import { fstatSync } from "node:fs";
import { CliError } from "./errors";
import { EXIT, fail } from "./oldRun";

/**
 * Resolves on the first signal to stop. Closing the terminal stops a command that runs in it. Without a terminal, or under nohup, a
 * hangup is ignored. Node.js resets the signals that nohup ignores, so nohup is recognized: it redirects output from the terminal to a file, but no pipe.
 *
 * The next signal ends the process at once.
 *
 * @param left says what a process leaves that ends now: the command fails with that
 */
export function stopSignal({ left }: { readonly left?: () => string | undefined } = {}): Promise<void> {
  const inTerminal = process.stdin.isTTY === true && (process.stdout.isTTY === true || fstatSync(1).isFIFO());
  if (!inTerminal) process.on("SIGHUP", () => undefined);
  const signals = ["SIGINT", "SIGTERM", ...(inTerminal ? ["SIGHUP"] : [])];
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) {
        process.off(signal, stop);
        if (left !== undefined) process.on(signal, () => endAtOnce(left()));
      }
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}

function endAtOnce(left = "nothing is left"): never {
  fail(new CliError("INTERRUPTED", `a second signal ended the command at once: ${left}`));
  process.exit(EXIT.interrupted);
}
