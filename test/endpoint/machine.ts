import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** What the command `pulumi` prints of a stack. */
export interface Printed {
  /** `pulumi stack export`. */
  readonly exported: unknown;
  /** `pulumi stack history --json`. */
  readonly history: unknown;
  /** Whether a program of the stack is running. */
  readonly isProgramRunning: boolean;
}

/** What the plugin finds outside itself, for one stack: PULUMI_HOME, and a command `pulumi` that prints the stack's state. */
export class Machine {
  readonly #folder = mkdtempSync(join(tmpdir(), "machine-"));
  readonly #files = new Map<string, string>();
  #printed: (() => Printed) | undefined;
  #homes = 0;
  #home: string;

  constructor() {
    mkdirSync(join(this.#folder, "bin"));
    this.#home = this.#newHome();
    // A shell starts in a moment, Node does not. It runs `stack export` and `stack history`.
    const script = `#!/bin/sh\nexec cat "${this.#folder}/$1-$2.json"\n`;
    writeFileSync(join(this.#folder, "bin", "pulumi"), script, { mode: 0o700 });
  }

  /** What the plugin's environment holds. */
  get environment(): Readonly<Record<string, string>> {
    return {
      PULUMI_HOME: this.#home,
      PATH: [join(this.#folder, "bin"), process.env.PATH].join(delimiter),
    };
  }

  /** Exists while a program of the stack is running. */
  get programFile(): string {
    return join(this.#folder, "program");
  }

  /** Lets the command print this. What is said in one go is written once, before any request that follows is sent. */
  print(printed: () => Printed): void {
    if (this.#printed === undefined) queueMicrotask(() => this.#write());
    this.#printed = printed;
  }

  /** Lets the work be done on another machine, whose PULUMI_HOME is empty. */
  async elsewhere<T>(work: () => Promise<T>): Promise<T> {
    const home = this.#home;
    this.#home = this.#newHome();
    try {
      return await work();
    } finally {
      this.#home = home;
    }
  }

  /**
   * Removes the folder. A run that met its time-out may still append to its journal, and Node.js's own retries remove a
   * folder that is not empty without listing it again.
   */
  async dispose(): Promise<void> {
    const deadline = Date.now() + 10_000;
    for (;;) {
      try {
        return rmSync(this.#folder, { recursive: true, force: true });
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(50);
      }
    }
  }

  #newHome(): string {
    const home = join(this.#folder, `home-${++this.#homes}`);
    mkdirSync(home);
    return home;
  }

  #write(): void {
    if (this.#printed === undefined) return;
    const { exported, history, isProgramRunning } = this.#printed();
    this.#printed = undefined;
    if (isProgramRunning) writeFileSync(this.programFile, "");
    else rmSync(this.programFile, { force: true });
    this.#replace("stack-export.json", JSON.stringify(exported));
    this.#replace("stack-history.json", JSON.stringify(history));
  }

  /** In one step, so that nobody reads half a state. That is slow, so only what changes is written. */
  #replace(name: string, text: string): void {
    if (this.#files.get(name) === text) return;
    this.#files.set(name, text);
    const file = join(this.#folder, name);
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
}
