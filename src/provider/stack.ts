import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parseJson } from "../shared/json";
import { AFTER_INPUT, type Origin } from "../shared/permanent";
import { quotedError, runPulumi } from "../shared/pulumiCommand";
import { stackOf } from "../shared/urn";
import type { Engine, EngineLog } from "./engine";
import type { Memory } from "./memory";
import { type Deployment, StackState } from "./stackState";
import type { EndpointInputs } from "./state";

/** How long the CLI may take to print a stack's state, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** The organization of every stack in a backend of one's own, such as a folder or a bucket. */
const SELF_MANAGED = "organization";
/** A backend that does not depend on the folder where `pulumi` runs. */
const ABSOLUTE_BACKEND = /^(?!file:\/\/[^/~])[a-z]\w*:\/\//i;

/** Where a stack is, as its program knows. The native plugin knows neither. */
export interface StackPlace {
  readonly organization?: string | undefined;
  /** The folder of the project's file. An inline program of the Automation API has none: then it is not an absolute path. */
  readonly rootDirectory?: string | undefined;
}

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
  /** Why its state does not count, if so: a sentence for a message. */
  problem: string | undefined;
  #place: StackPlace = {};
  #reading: Promise<StackState | undefined> | undefined;
  #proof: Promise<boolean> | undefined;

  constructor(private readonly context: StackSources) {}

  /** Tells where the stack is, so that its state is read there. */
  isAt(place: StackPlace): void {
    this.#place = place;
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
    const { memory, origin } = this.context;
    const state = await this.state();
    return memory.namesOf(inputs).some((name) => state?.hasEndpointNamed(name, origin));
  }

  /**
   * Returns whether `create` may act on what the state alone says: another backend may have a stack of the same names. So a second export,
   * once a run, must show the creation under way, which the first lacked. Where it does not, as with `PULUMI_SKIP_CHECKPOINTS` or the
   * journals of Pulumi Cloud, the state is believed if it can only be this backend's.
   */
  isProven(inputs: EndpointInputs): Promise<boolean> {
    this.#proof ??= this.#prove(inputs);
    return this.#proof;
  }

  async #prove(inputs: EndpointInputs): Promise<boolean> {
    const { engine, environment, memory } = this.context;
    const { organization = SELF_MANAGED, rootDirectory = "" } = this.#place;
    const [urn = "", found] = [await engine.rootUrn(), await this.state()];
    const now = await this.#export(urn).catch(() => undefined);
    const names = memory.namesOf(inputs);
    const count = (state?: StackState) => state?.countCreations(names, inputs[AFTER_INPUT]) ?? 0;
    if (count(now) > count(found)) return true;
    if (ABSOLUTE_BACKEND.test(environment.PULUMI_BACKEND_URL ?? "")) return true;
    if (isAbsolute(rootDirectory) && organization !== SELF_MANAGED) return true;
    this.problem =
      "The state that `pulumi stack export` prints does not show what this run creates: it may be that of a stack with this name in another " +
      "backend. Set PULUMI_BACKEND_URL to the absolute URL of this stack's backend, for an inline program in envVars.";
    return false;
  }

  async #read(): Promise<StackState | undefined> {
    const { engine, log } = this.context;
    const urn = await engine.rootUrn();
    if (urn === undefined) {
      this.#reading = undefined;
      return undefined;
    }
    try {
      return await this.#export(urn);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === "ENOENT" ? "the command pulumi was not found on PATH" : message;
      this.problem = `The stack's state could not be read: ${reason}.`;
      log.warn(
        `the state of this stack cannot be read (${reason}), so this run does not see what interrupted runs registered, or that a ` +
          "resource was renamed without an alias: it stops rather than registering twice.",
      );
      return undefined;
    }
  }

  #export(urn: string): Promise<StackState> {
    const { environment, readState = readStackState } = this.context;
    return readState(urn, this.#place, environment);
  }
}

/**
 * Reads the state of a stack by `pulumi stack export`, which works while a run is under way and needs no passphrase (engine rule 37).
 *
 * @param urn the root URN of the stack
 * @throws Error if the CLI is not on PATH (with the code `ENOENT`), or cannot read the state
 */
export async function readStackState(
  urn: string,
  { organization, rootDirectory = "" }: StackPlace,
  environment: NodeJS.ProcessEnv,
): Promise<StackState> {
  const { project, stack } = stackOf(urn);
  const name = organization === undefined ? stack : `${organization}/${project}/${stack}`;
  // This process is in the program's folder, and a relative backend counts from the project's.
  const cwd = isAbsolute(rootDirectory) ? rootDirectory : projectFolder();
  // A relative one would count twice (engine rule 40).
  const env = { ...environment, PULUMI_OPTION_CWD: "" };
  const run = (name: string) => {
    const args = ["stack", "export", "--stack", name];
    return runPulumi(args, { cwd, env, signal: AbortSignal.timeout(TIMEOUT_MS) });
  };
  let result = await run(name);
  // A backend that was never upgraded has no projects, and takes no full name.
  if (result.exitCode !== 0 && organization === SELF_MANAGED) {
    const plain = await run(stack);
    if (plain.exitCode === 0) result = plain;
  }
  const { deployment } = Object(parseJson(result.stdout)) as { deployment?: Deployment };
  if (result.exitCode !== 0 || deployment === undefined)
    throw new Error(`\`pulumi stack export --stack ${name}\` failed: ${quotedError(result)}`);
  const { resources = [] } = deployment;
  if (resources.length > 0 && !resources.some((each) => each.urn === urn))
    throw new Error(`\`pulumi stack export --stack ${name}\` printed another stack`);
  return new StackState(deployment);
}

/** Returns the nearest folder above this one that has a project's file, as Pulumi looks for it; this one if there is none. */
function projectFolder(): string {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if (["yaml", "yml", "json"].some((kind) => existsSync(join(folder, `Pulumi.${kind}`)))) return folder;
    if (folder === dirname(folder)) return process.cwd();
  }
}
