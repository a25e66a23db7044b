import { parseJson } from "../shared/json";
import type { Origin } from "../shared/permanent";
import { runPulumi } from "../shared/pulumiCommand";
import { stackOf } from "../shared/urn";
import type { Engine, EngineLog } from "./engine";
import type { Memory } from "./memory";
import { type Deployment, StackState } from "./stackState";
import type { EndpointInputs } from "./state";

/** How long the CLI may take to print a stack's state, in milliseconds. */
const TIMEOUT_MS = 60_000;

interface StackSources {
  readonly engine: Pick<Engine, "rootUrn">;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: EngineLog;
  readonly origin: Origin;
  readonly memory: Memory;
  /** Default: by `pulumi stack export`. */
  readonly readState?: typeof readStackState;
}

/** The stack that the run works on. */
export class Stack {
  /** Why its state could not be read, if so. */
  problem: string | undefined;
  #organization: string | undefined;
  #reading: Promise<StackState | undefined> | undefined;

  constructor(private readonly run: StackSources) {}

  /** Tells what the program alone knows, so that the stack can be named in full. */
  inOrganization(name: string): void {
    this.#organization = name;
  }

  /**
   * Returns the state as the run found it: read once, when it is first asked for, which is before this process creates anything. So the
   * interrupted creations in it are those of earlier runs. Undefined if it cannot be read, or nobody knows the stack: until a program
   * runs, a dynamic provider does not (engine rule 33).
   */
  state(): Promise<StackState | undefined> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Returns whether a resource of this name and with these inputs has an endpoint. Without a `diff`, only the state knows (engine rule 17). */
  async hasEndpointOf(inputs: EndpointInputs): Promise<boolean> {
    const { memory, origin } = this.run;
    const state = await this.state();
    return memory.namesOf(inputs).some((name) => state?.hasEndpointNamed(name, origin));
  }

  async #read(): Promise<StackState | undefined> {
    const { engine, environment, log, readState = readStackState } = this.run;
    const urn = await engine.rootUrn();
    if (urn === undefined) {
      this.#reading = undefined;
      return undefined;
    }
    try {
      return await readState(urn, this.#organization, environment);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      log.warn(
        `the state of this stack cannot be read (${this.problem}), so this run does not see what interrupted runs registered, or that a ` +
          "resource was renamed without an alias: it stops rather than registering twice. `pulumi` must be on PATH.",
      );
      return undefined;
    }
  }
}

/**
 * Reads the state of a stack by `pulumi stack export`, which works while a run is under way and needs no passphrase (engine rule 37).
 *
 * @param urn the root URN of the stack
 * @param organization undefined if nobody knows it: then the stack is looked for in this folder's project
 * @throws Error if the CLI is not on PATH, or cannot read the state
 */
export async function readStackState(
  urn: string,
  organization: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<StackState> {
  const { project, stack } = stackOf(urn);
  const name = organization === undefined ? stack : `${organization}/${project}/${stack}`;
  const args = ["stack", "export", "--stack", name];
  // This process is in the folder that the variable names, so a relative one would count twice (engine rule 40).
  const env = { ...environment, PULUMI_OPTION_CWD: "" };
  const { exitCode, stdout } = await runPulumi(args, { env, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { deployment } = Object(parseJson(stdout)) as { deployment?: Deployment };
  if (exitCode !== 0 || deployment === undefined)
    throw new Error(`\`pulumi ${args.join(" ")}\` ended with exit status ${exitCode}`);
  const { resources = [] } = deployment;
  if (resources.length > 0 && !resources.some((each) => each.urn === urn))
    throw new Error(`\`pulumi ${args.join(" ")}\` printed another stack`);
  return new StackState(deployment);
}
