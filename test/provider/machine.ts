import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** What the command `pulumi` prints of a stack. */
export interface Printed {
  /** `pulumi stack export`. */
  readonly exported: unknown;
  /** `pulumi stack history --json`. */
  readonly history: unknown;
}

/** What the plugin finds outside itself, for one stack: PULUMI_HOME, and a command `pulumi` that prints the stack's state. */
export class Machine {
  readonly #folder = mkdtempSync(join(tmpdir(), "machine-"));
  /** Answers the command `pulumi`: files would have to be written at each step of the engine, and few of them are read. */
  readonly #server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (command) => {
      const { exported, history } = this.printed();
      socket.end(JSON.stringify(String(command).startsWith("stack history") ? history : exported));
    });
  });
  #homes = 0;
  #home = this.#newHome();

  private constructor(private readonly printed: () => Printed) {}

  /** @param printed returns what the command prints at the moment */
  static async start(printed: () => Printed): Promise<Machine> {
    const machine = new Machine(printed);
    machine.#server.listen(0, "127.0.0.1");
    await once(machine.#server, "listening");
    const { port } = machine.#server.address() as AddressInfo;
    const bin = join(machine.#folder, "bin");
    mkdirSync(bin);
    // A shell starts in a moment, Node does not.
    const script = `#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/${port}\necho "$@" >&3\nexec cat <&3\n`;
    writeFileSync(join(bin, "pulumi"), script, { mode: 0o700 });
    return machine;
  }

  /** What the plugin's environment holds. */
  get environment(): Readonly<Record<string, string>> {
    return {
      PULUMI_HOME: this.#home,
      PULUMI_BACKEND_URL: "file:///backend",
      PATH: [join(this.#folder, "bin"), process.env.PATH].join(delimiter),
    };
  }

  /** Exists while a program of the stack is running. */
  get programFile(): string {
    return join(this.#folder, "program");
  }

  programRuns(isRunning: boolean): void {
    if (isRunning) writeFileSync(this.programFile, "");
    else rmSync(this.programFile, { force: true });
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
    this.#server.close();
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
}
