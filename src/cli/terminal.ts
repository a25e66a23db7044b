import { createInterface } from "node:readline/promises";
import { withoutSecrets } from "./knownSecrets";
import { printable } from "./printable";

/** Returns text that cannot control the terminal, and that holds no secret that the command knows. */
function shown(text: string): string {
  return text
    .split("\n")
    .map((line) => printable(withoutSecrets(line)))
    .join("\n");
}

/** Questions to a person. */
export interface Terminal {
  question(text: string): Promise<string>;
  close(): void;
}

/** Opens the terminal for questions, which go to standard error. Returns undefined when the command has no terminal. */
export function openTerminal(): Terminal | undefined {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined;
  const lines = createInterface(process.stdin, process.stderr);
  // The terminal is in raw mode, so Ctrl-C arrives as a character.
  lines.on("SIGINT", () => {
    process.stderr.write("\n");
    process.kill(process.pid, "SIGINT");
  });
  // At the end of the input (Ctrl-D), a question would wait forever.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  return {
    question: (text) => Promise.race([lines.question(shown(text)), ended]),
    close: () => lines.close(),
  };
}
