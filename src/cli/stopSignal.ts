/**
 * Resolves on the first signal to stop. Closing the terminal stops a command that runs in it. Without a terminal, or under nohup, a
 * hangup is ignored. Node.js resets the signals that nohup ignores, so nohup is recognized by its redirected output.
 *
 * @param again called on the next signal; by default it ends the process at once
 */
export function stopSignal({ again }: { readonly again?: () => void } = {}): Promise<void> {
  const inTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!inTerminal) process.on("SIGHUP", () => undefined);
  const signals = ["SIGINT", "SIGTERM", ...(inTerminal ? ["SIGHUP"] : [])];
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) {
        process.off(signal, stop);
        if (again !== undefined) process.on(signal, again);
      }
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
