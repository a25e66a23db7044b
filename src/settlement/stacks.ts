import type { StackName } from "./book";
import { printerOf, Stack } from "./stack";
import { stackNameOf } from "./stackName";

/** The stacks that a run meets: its own, and those that entries of the book name. Each is read once. */
export class Stacks {
  readonly #known = new Map<string, Stack>();
  readonly #startedAt: number;
  #current: Stack | undefined;

  /**
   * @param rootUrn returns the root URN of the run's stack; undefined while the engine does not know it
   * @param startedAt when the run began, in milliseconds on this machine's clock
   */
  constructor(
    private readonly rootUrn: () => Promise<string | undefined>,
    private readonly environment: NodeJS.ProcessEnv,
    startedAt: number,
  ) {
    this.#startedAt = startedAt;
  }

  /** Returns the stack of this run. Until a program runs, a dynamic provider does not know it (engine rule 33). */
  async current(): Promise<Stack | undefined> {
    if (this.#current === undefined) {
      const urn = await this.rootUrn();
      if (urn === undefined) return undefined;
      this.#current = this.of(stackNameOf(urn, { environment: this.environment, folder: process.cwd() }));
    }
    return this.#current;
  }

  of(name: StackName): Stack {
    const key = JSON.stringify([name.urn, name.backend]);
    const stack = this.#known.get(key) ?? new Stack(name, printerOf(name, this.environment), this.#startedAt);
    this.#known.set(key, stack);
    return stack;
  }
}
