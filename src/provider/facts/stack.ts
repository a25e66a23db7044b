import { AFTER_INPUT } from "../../shared/permanent";
import type { Engine, EngineLog } from "../engine";
import type { EndpointInputs } from "../state";
import type { Declarations } from "./declarations";
import {
  AmbiguousStack,
  type OtherStacks,
  type PulumiCommand,
  type StackPlace,
  StackSource,
} from "./stackSource";
import { StackState } from "./stackState";

interface StackSources extends PulumiCommand {
  readonly engine: Pick<Engine, "rootUrn">;
  readonly log: EngineLog;
  readonly declarations: Declarations;
}

const UNPROVEN =
  "The state that `pulumi stack export` prints does not show what this run creates: it may be that of a stack with this name in another " +
  "backend. Set PULUMI_BACKEND_URL to the absolute URL of this stack's backend, for an inline program in envVars.";

/** What was read, and from where. */
interface Found {
  readonly source: StackSource;
  readonly name: string;
  readonly state: StackState;
}

/** Whether a state is this stack's; if not, why nothing shows that: a sentence for a message. */
export type Proof = { readonly proven: true } | { readonly proven: false; readonly why: string };

/** The stack that the run works on. */
export class Stack {
  /** Whether several stacks may be this run's, as in a preview of the native plugin. Then only `create` may conclude anything. */
  isAmbiguous = false;
  #place: StackPlace = {};
  #reading: Promise<Found | undefined> | undefined;
  #proof: Promise<Proof> | undefined;
  #whyNotRead: string | undefined;
  #others: Promise<OtherStacks> | undefined;

  constructor(private readonly context: StackSources) {}

  /** Notes where the stack is, so that its state is read there. */
  locate(place: StackPlace): void {
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

  /** Why the state cannot be read, if it was read and cannot be: a sentence for a message. */
  get whyNotRead(): string | undefined {
    return this.#whyNotRead;
  }

  /**
   * Proves that `create` may act on what the state alone says: another backend may have a stack of the same names. So a second look,
   * once a run, must show this run at work: a second export the creation under way, which the first lacked, or the list of stacks an update
   * of it. An export shows none with `PULUMI_SKIP_CHECKPOINTS`, and perhaps with Pulumi Cloud, and only Pulumi Cloud lists updates. Nothing
   * is asked where the state can only be this stack's.
   *
   * @param inputs of a resource that `create` was called for. The first one that asks speaks for all: what is proven is the state, not the
   *   resource, so later calls return the same
   */
  prove(inputs: EndpointInputs): Promise<Proof> {
    this.#proof ??= this.#prove(inputs);
    return this.#proof;
  }

  async #prove(inputs: EndpointInputs): Promise<Proof> {
    const { declarations } = this.context;
    const found = await this.#find();
    if (found === undefined) return { proven: false, why: this.#whyNotRead ?? UNPROVEN };
    const { name, source } = found;
    if (source.isCertain()) return { proven: true };
    const read = source.read(name).then((deployment) => new StackState(deployment));
    const [now, isRunning] = await Promise.allSettled([read, source.isRunning(name)]);
    const urns = declarations.urnsOf(inputs);
    const count = (state: StackState) => state.countCreations(urns, inputs[AFTER_INPUT]);
    const isShown = now.status === "fulfilled" && count(now.value) > count(found.state);
    const isProven = isShown || (isRunning.status === "fulfilled" && isRunning.value);
    if (isProven) return { proven: true };
    const failed = [now, isRunning].find((each) => each.status === "rejected");
    return { proven: false, why: failed ? whyNot("read again", failed.reason) : UNPROVEN };
  }

  /**
   * Reads the other stacks of the backend, once a run, as far as ten seconds allow. Undefined unless it is proven to be this run's.
   *
   * @param proof undefined in a `check`, which asks for none: there only a backend that cannot differ is proven
   */
  async othersIfProven(proof?: Proof): Promise<OtherStacks | undefined> {
    const found = await this.#find();
    const isProven = proof?.proven ?? found?.source.isCertain();
    if (found === undefined || !isProven) return undefined;
    this.#others ??= found.source.others(found.name);
    return this.#others;
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
      this.isAmbiguous = error instanceof AmbiguousStack;
      this.#whyNotRead = whyNot("read", error);
      log.warn(
        `the state of this stack cannot be read (${reasonOf(error)}), so this run does not see what interrupted runs registered, or that a ` +
          "resource was renamed without an alias: it stops rather than registering twice.",
      );
      return undefined;
    }
  }
}

function whyNot(what: "read" | "read again", error: unknown): string {
  return `The stack's state could not be ${what}: ${reasonOf(error)}.`;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "the command pulumi was not found on PATH" : message;
}
