import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CliError } from "./errors";
import type { Output } from "./output";

/** Where a person answers. Tests answer themselves. */
export interface Terminal {
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  /** Returns what the person typed; "" at the end of the input. @param hidden does not show what is typed */
  question(text: string, options?: { readonly hidden?: boolean }): Promise<string>;
  /** Calls back for each line of the input, as long as the process runs. */
  onLine(listener: (line: string) => void): void;
}

/** The terminal of this process. Questions go to standard error. */
export const terminal: Terminal = {
  get isInteractive() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
  async question(text, { hidden = false } = {}) {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const output = hidden ? nowhere : process.stderr;
    const lines = createInterface({ input: process.stdin, output, terminal: true });
    // In raw mode, Ctrl-C arrives as a character.
    lines.once("SIGINT", () => {
      process.stderr.write("\n");
      process.kill(process.pid, "SIGINT");
    });
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    if (hidden) process.stderr.write(text);
    try {
      return await Promise.race([lines.question(hidden ? "" : text), ended]);
    } finally {
      lines.close();
      if (hidden) process.stderr.write("\n");
    }
  },
  onLine(listener) {
    const lines = createInterface({ input: process.stdin });
    lines.on("line", listener).on("error", () => undefined);
  },
};

/**
 * Returns whether a person agrees; without a question if `--yes` was given.
 *
 * @throws CliError `WRONG_USE` if nobody can be asked
 */
export async function confirm(
  { output, terminal }: { readonly output: Output; readonly terminal: Terminal },
  question: string,
  yes = false,
): Promise<boolean> {
  if (yes) return true;
  if (!terminal.isInteractive)
    throw new CliError("WRONG_USE", "nobody can be asked without a terminal. Add --yes to agree in advance");
  const answer = await terminal.question(`${output.shown(question)} [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}
