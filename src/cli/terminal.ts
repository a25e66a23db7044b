import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { withoutSecrets } from "./knownSecrets";
import { printable } from "./printable";

/** How to ask a person. */
export interface Asking {
  /** Returns what the person typed. Absent without a terminal, or if there is nothing to ask. */
  readonly ask?: (question: string) => Promise<string>;
}

/** How many questions wait for an answer. */
let questions = 0;

/** Returns whether a person is being asked: whatever is printed now stands in their line. */
export function isAsking(): boolean {
  return questions > 0;
}

async function asking<T>(answer: Promise<T>): Promise<T> {
  questions += 1;
  return answer.finally(() => {
    questions -= 1;
  });
}

/**
 * Runs work that can ask a person at the terminal, unless everything was answered in advance. The questions go to standard error, and
 * the terminal is closed in the end.
 */
export async function withTerminal<T>(
  { yes }: { readonly yes: boolean },
  work: (asking: Asking) => Promise<T>,
): Promise<T> {
  if (yes || !isAnswered() || process.stderr.isTTY !== true) return work({});
  const lines = interruptible(createInterface(process.stdin, process.stderr));
  // At the end of the input (Ctrl-D), a question would wait forever.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    return await work({ ask: (question) => asking(Promise.race([lines.question(shown(question)), ended])) });
  } finally {
    lines.close();
  }
}

/** Returns whether somebody at a terminal can answer: not once a command has read the input to its end (`-` and Ctrl-D). */
export function isAnswered(): boolean {
  const { isTTY, readableEnded, destroyed } = process.stdin;
  return isTTY === true && !readableEnded && !destroyed;
}

/** Returns whether an answer to `[y/N]` is yes. */
export function agrees(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

/** Asks for something that must not be shown: what is typed is not echoed. Returns an empty string at the end of the input. */
export async function askHidden(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = interruptible(createInterface({ input: process.stdin, output: nowhere, terminal: true }));
  // Only now, when the terminal no longer echoes.
  process.stderr.write(question);
  try {
    const answer = new Promise<string>((resolve) => {
      lines.once("line", resolve).once("close", () => resolve(""));
    });
    return await asking(answer);
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}

/** Makes Ctrl-C interrupt the process, as anywhere else: the terminal is in raw mode, so it arrives as a character. */
function interruptible(lines: Interface): Interface {
  return lines.on("SIGINT", () => {
    process.stderr.write("\n");
    process.kill(process.pid, "SIGINT");
  });
}

/** Returns text that cannot control the terminal, and that holds no secret that the command knows. */
function shown(text: string): string {
  return text
    .split("\n")
    .map((line) => printable(withoutSecrets(line)))
    .join("\n");
}
