import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/**
 * Asks in the terminal for something that must not be shown: what is typed is not echoed. Returns an empty string at the end of the
 * input. Ctrl-C interrupts the process, as anywhere else.
 */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // Only now, when the terminal no longer echoes.
  process.stderr.write(question);
  // The terminal is in raw mode, so Ctrl-C arrives as a character.
  lines.on("SIGINT", () => {
    process.stderr.write("\n");
    process.kill(process.pid, "SIGINT");
  });
  try {
    return await new Promise<string>((resolve) => {
      lines.once("line", resolve).once("close", () => resolve(""));
    });
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
