import { AFTER_INPUT, type Origin } from "../shared/permanent";
import type { Engine, EngineLog } from "./engine";
import type { Memory } from "./memory";
import { type PulumiCommand, type StackPlace, StackSource } from "./stackSource";
import { StackState } from "./stackState";
import type { EndpointInputs } from "./state";

interface StackSources extends PulumiCommand {
  readonly engine: Pick<Engine, "rootUrn">;
  readonly log: EngineLog;
  readonly origin: Origin;
  readonly memory: Memory;
}

/** What was read, and from where. */
interface Found {
  readonly source: StackSource;
  readonly name: string;
  readonly state: StackState;
}

/** The stack that the run works on. */
export class Stack {
  /** Why its state does not count, if so: a sentence for a message. */
  problem: string | undefined;
  #place: StackPlace = {};
  #reading: Promise<Found | undefined> | undefined;
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
  async state(): Promise<StackState | undefined> {
    return (await this.#find())?.state;
  }

  /** Returns whether a resource of this name and with these inputs has an endpoint. Without a `diff`, only the state knows (engine rule 17). */
  async hasEndpointOf(inputs: EndpointInputs): Promise<boolean> {
    const { memory, origin } = this.context;
    const state = await this.state();
    return memory.namesOf(inputs).some((name) => state?.hasEndpointNamed(name, origin));
  }

  /**
   * Returns whether `create` may act on what the state alone says: another backend may have a stack of the same names. So a second look,
   * once a run, must show this run at work: a second export the creation under way, which the first lacked, or the list of stacks an update
   * of it. An export shows none with `PULUMI_SKIP_CHECKPOINTS`, and perhaps with Pulumi Cloud, and only Pulumi Cloud lists updates. Nothing
   * is asked where the state can only be this stack's.
   */
  isProven(inputs: EndpointInputs): Promise<boolean> {
    this.#proof ??= this.#prove(inputs);
    return this.#proof;
  }

  async #prove(inputs: EndpointInputs): Promise<boolean> {
    const { memory } = this.context;
    const found = await this.#find();
    if (found === undefined) return false;
    const { name, source } = found;
    if (source.isCertain()) return true;
    const read = source.read(name).then((deployment) => new StackState(deployment));
    const [now, isRunning] = await Promise.allSettled([read, source.isRunning(name)]);
    const names = memory.namesOf(inputs);
    const count = (state: StackState) => state.countCreations(names, inputs[AFTER_INPUT]);
    if (now.status === "fulfilled" && count(now.value) > count(found.state)) return true;
    if (isRunning.status === "fulfilled" && isRunning.value) return true;
    this.problem =
      "The state that `pulumi stack export` prints does not show what this run creates: it may be that of a stack with this name in another " +
      "backend. Set PULUMI_BACKEND_URL to the absolute URL of this stack's backend, for an inline program in envVars.";
    return false;
  }

  #find(): Promise<Found | undefined> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  async #read(): Promise<Found | undefined> {
    const { engine, log } = this.context;
    const urn = await engine.rootUrn();
    if (urn === undefined) {
      this.#reading = undefined;
      return undefined;
    }
    try {
      const source = new StackSource(urn, this.#place, this.context);
      const name = await source.name();
      return { source, name, state: new StackState(await source.read(name)) };
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
}
