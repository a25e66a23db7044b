import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** What a program that runs until it is stopped has written. */
export interface Output {
  /** The lines, as they are now. */
  readonly lines: readonly string[];
  /** Rejects once the program has ended. */
  readonly failed: Promise<never>;
  /** Resolves with the first of the lines that matches. */
  written(pattern: RegExp): Promise<string>;
  /** Resolves with the next of the lines that begin with "> ", without that. */
  next(count: number): Promise<string[]>;
  stop(signal?: NodeJS.Signals): Promise<unknown>;
}

export function follow(child: ChildProcess): Output {
  const ended = once(child, "close");
  const lines: string[] = [];
  const marked: string[] = [];
  let wake = () => {};
  const failed = ended.then(() => Promise.reject(new Error(`The program ended:\n${lines.join("\n")}`)));
  failed.catch(() => {});
  for (const stream of child.stdio.filter((each) => each instanceof Readable))
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      if (line.startsWith("> ")) marked.push(line.slice(2));
      wake();
    });
  async function until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), failed]);
    }
  }
  return {
    lines,
    failed,
    written: (pattern) => until(() => lines.find((line) => pattern.test(line))),
    next: (count) => until(() => (marked.length < count ? undefined : marked.splice(0, count))),
    stop(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
