import { parseJson } from "../shared/json";
import { runPulumi } from "../shared/pulumiCommand";
import { stackOf } from "../shared/urn";
import type { Deployment, ExportedStack } from "./deployment";
import type { StackName } from "./entry";
import { type PastRun, type Print, readHistory } from "./history";
import { isAmbiguous, projectName, stackNameOf } from "./stackName";
import { StackState } from "./stackState";

/** How long the CLI may take to print something of a stack, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** How many other stacks are read at once. */
const MAX_EXPORTS = 8;

/** One stack: its state as the CLI prints it, also while a run is under way (engine rule 37), and its history. */
export class Stack {
  #state: Promise<StackState | undefined> | undefined;
  #atEnd: Promise<StackState | undefined> | undefined;
  #history: { readonly since: number; readonly runs: Promise<PastRun[] | undefined> } | undefined;
  /** Why the state could not be read, if the command has failed. */
  problem: string | undefined;

  /**
   * @param startedAt when this run began, in milliseconds on this machine's clock; undefined if nothing tells
   * @param deployment its state, if that was read before
   */
  constructor(
    readonly name: StackName,
    private readonly print: Print,
    readonly startedAt: number | undefined,
    deployment?: Deployment,
  ) {
    if (deployment !== undefined) this.#state = Promise.resolve(new StackState(deployment));
  }

  /**
   * Returns the state as it was when this was first called. Undefined when the CLI is not on PATH, or cannot read the state, or
   * prints that of another stack with the same name.
   */
  state(): Promise<StackState | undefined> {
    this.#state ??= this.#read().catch((error: unknown) => {
      this.problem = error instanceof Error ? error.message : String(error);
      return undefined;
    });
    return this.#state;
  }

  /** Returns when the stack began, in milliseconds since 1970, as its entries note it; undefined if nothing tells. */
  async began(): Promise<number | undefined> {
    return (await this.state())?.began;
  }

  stateNow(): Promise<StackState | undefined> {
    return this.#read().catch(() => undefined);
  }

  async #read(): Promise<StackState | undefined> {
    const { deployment } = (await this.print(["stack", "export"])) as Partial<ExportedStack>;
    const { resources = [] } = deployment ?? {};
    // Before the first run and after a destroy, nothing names the stack.
    const isOurs =
      resources.length === 0 ? !isAmbiguous(this.name) : resources.some(({ urn }) => urn === this.name.urn);
    return isOurs ? new StackState(deployment ?? {}) : undefined;
  }

  /**
   * Returns the state as it is now, or as it was if it cannot be read now. A deletion needs it: the run may have imported the endpoint for
   * another resource a moment ago. Reading takes about 0.3 s (engine rule 37), so that at the end of the run is read once.
   *
   * @param isAtEnd whether only deletions follow: the engine deletes what is left when the program and all its steps are done
   */
  async present({ isAtEnd }: { readonly isAtEnd: boolean }): Promise<StackState | undefined> {
    const reading = this.#atEnd ?? this.stateNow();
    if (isAtEnd) this.#atEnd = reading;
    return (await reading) ?? this.state();
  }

  /** Notes that the run goes on: what was read at its end was not. */
  goesOn(): void {
    this.#atEnd = undefined;
  }

  /** Returns the runs that ended since a moment, and perhaps earlier ones, the last one first. Undefined when they cannot be read. */
  history(since: number): Promise<PastRun[] | undefined> {
    if (this.#history === undefined || since < this.#history.since) {
      const runs = readHistory(this.print, since).catch(() => undefined);
      this.#history = { since, runs };
    }
    return this.#history.runs;
  }
}

/** The states of the other stacks of a project. */
interface OtherStacks {
  readonly states: readonly StackState[];
  /** The names of those that could not be read; undefined if they could not even be listed. */
  readonly unread: readonly string[] | undefined;
}

/** The stacks that a run meets: its own, those that entries of the book name, and others of its project. Each is read once. */
export class Stacks {
  readonly #known = new Map<string, Stack>();
  #others: Promise<OtherStacks> | undefined;
  #current: Stack | undefined;

  /**
   * @param rootUrn returns the root URN of the run's stack; undefined while the engine does not know it
   * @param startedAt when the run began, in milliseconds on this machine's clock; undefined if nothing tells
   */
  constructor(
    private readonly rootUrn: () => Promise<string | undefined>,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly startedAt: number | undefined,
  ) {}

  /** Returns the stack of this run. Until a program runs, a dynamic provider does not know it (engine rule 33). */
  async current(): Promise<Stack | undefined> {
    if (this.#current === undefined) {
      const urn = await this.rootUrn();
      if (urn === undefined) return undefined;
      this.#current = this.of(stackNameOf(urn, { environment: this.environment, folder: process.cwd() }));
    }
    return this.#current;
  }

  /** Notes that the run goes on after a deletion. */
  goOn(): void {
    for (const stack of this.#known.values()) stack.goesOn();
  }

  of(name: StackName): Stack {
    const key = JSON.stringify([name.urn, name.backend]);
    const stack = this.#known.get(key) ?? new Stack(name, this.#printerOf(name), this.startedAt);
    this.#known.set(key, stack);
    return stack;
  }

  /** Returns the other stacks of this run's project, as the CLI prints them. */
  others(): Promise<OtherStacks> {
    this.#others ??= this.#readOthers();
    return this.#others;
  }

  async #readOthers(): Promise<OtherStacks> {
    const own = (await this.current())?.name.urn;
    // An inline program of the Automation API is in no folder of its project.
    const project = own === undefined ? [] : ["--project", stackOf(own).project];
    const listed = await this.#printed(["stack", "ls", "--json", ...project]).catch(() => undefined);
    if (!Array.isArray(listed)) return { states: [], unread: undefined };
    const waiting = (listed as readonly { readonly name: string }[]).map(({ name }) => name);
    const states: StackState[] = [];
    const unread: string[] = [];
    const readNext = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        try {
          const exported = await this.#printed(["stack", "export"], name);
          const state = new StackState((exported as Partial<ExportedStack>).deployment ?? {});
          if (state.root !== own) states.push(state);
        } catch {
          unread.push(name);
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_EXPORTS }, readNext));
    return { states, unread };
  }

  /**
   * Returns what prints a stack, by its name alone, which leaves its organization open. An inline program of the Automation API is in no
   * folder of its project: there the whole name is needed, which is known where there are no organizations.
   */
  #printerOf(name: StackName): Print {
    const { project, stack } = stackOf(name.urn);
    const isHere = isAmbiguous(name) || projectName(process.cwd()) === project;
    return (args) => this.#printed(args, isHere ? stack : `organization/${project}/${stack}`);
  }

  async #printed(args: readonly string[], stack?: string): Promise<unknown> {
    const named = stack === undefined ? [] : ["--stack", stack];
    // The run is in the folder that this variable names (engine rule 40).
    const env = { ...this.environment, PULUMI_OPTION_CWD: "" };
    const options = { env, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const { exitCode, stdout } = await runPulumi([...args, ...named], options);
    const printed = parseJson(stdout);
    if (exitCode !== 0 || printed === undefined)
      throw new Error(
        `\`pulumi ${[...args, ...named].join(" ").replace(/organization\/[^/]+\//, "")}\` ended with exit status ${exitCode}`,
      );
    return printed;
  }
}
