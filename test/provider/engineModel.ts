import { type Deployment, providerNameOf, type Resource } from "../../src/provider/facts/exportedState";
import { ORGANIZATION_INPUT, ROOT_INPUT, SECRET_INPUT, URN_INPUT } from "../../src/provider/hiddenInputs";
import type { EndpointInputs } from "../../src/provider/state";
import { UNKNOWN_VALUE } from "../../src/shared/optionChecks";
import { AFTER_INPUT, NATIVE_TYPE_TOKEN, PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { nameOf } from "../../src/shared/urn";

export type Properties = Readonly<Record<string, unknown>>;

export interface Made {
  readonly id: string;
  readonly outs: Properties;
}

/** A plugin process, as the engine calls it in one command. */
export interface Verbs {
  check(olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: { reason: string }[] }>;
  diff(id: string, olds: Properties, news: Properties): Promise<{ changes: boolean; replaces: string[] }>;
  create(inputs: Properties): Promise<Made>;
  read(id: string, props: Properties): Promise<{ id?: string; props?: Properties; inputs?: Properties }>;
  update(id: string, olds: Properties, news: Properties): Promise<{ outs: Properties }>;
  delete(id: string, props: Properties): Promise<void>;
}

/** What a verb failed with; for a resource that is half-made, what the engine keeps of it (engine rule 8). */
export class VerbError extends Error {
  override readonly name = "VerbError";
  constructor(
    message: string,
    readonly halfMade?: { readonly id: string; readonly properties: Properties; readonly reasons: string[] },
  ) {
    super(message);
  }
}

/** The error of a verb whose whole run was killed. */
export class Killed extends Error {
  override readonly name = "Killed";
}

export type Command = "preview" | "up" | "refresh" | "destroy";

/** A resource of a program. */
export interface Declared {
  readonly name: string;
  readonly args: EndpointInputs;
  /** The explicit provider by its name; "" is the default one. */
  readonly provider?: string;
  /** Names that the resource had before, or URNs. */
  readonly aliases?: readonly string[];
  readonly deleteBeforeReplace?: boolean;
  /** Whether the recorded url stays, whatever is declared: `ignoreChanges: ["url"]`. */
  readonly ignoresUrl?: boolean;
  /** The type of the component that it is in. */
  readonly parent?: string;
  /** Of a dynamic resource that somebody wrote by hand for the same service. Default: an endpoint of ours. */
  readonly type?: typeof HAND_WRITTEN;
  /** Whether the state encrypts its url. */
  readonly isSecret?: boolean;
}

/** A creation, as long as it has not ended. */
export type Operation = Resource & {
  readonly provider: string;
  readonly inputs: Properties;
  readonly isSecret?: boolean;
};

/** A resource of the state. */
export interface Recorded extends Operation {
  readonly id: string;
  readonly outputs: Properties;
  readonly initErrors?: readonly string[];
  /** Deleted already, by a replacement that deletes first and whose creation failed. */
  readonly pendingReplacement?: boolean;
}

export interface RunOptions {
  /** These are replaced, whatever `diff` would say. */
  readonly replace?: readonly string[];
  /** Reads the state again first, in the same command: `up --refresh`. */
  readonly refresh?: boolean;
  /** How many steps at once: `--parallel`. Default 16. */
  readonly parallel?: number;
  /** How often an `onError` hook has a creation that failed tried again (engine rule 30). Default 0. */
  readonly retries?: number;
}

/** What a command that Ctrl-C ended failed with. */
const CANCELLED = "cancelled";

/** What went wrong in a command, each with the name of the resource: nothing, when it succeeded. */
export type Problems = readonly string[];

/** The URN of the stack. */
export const ROOT_URN = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
export const urnOf = (name: string, type: string = TYPE_TOKEN) => `urn:pulumi:dev::test::${type}::${name}`;
/** The type of every dynamic resource that a program defines itself. */
export const HAND_WRITTEN = "pulumi-nodejs:dynamic:Resource";
/** What a value is in the state that `pulumi stack export` prints, if it is a secret. */
const ENCRYPTED = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "v1:AA",
};
/** Returns what the state says of a resource's provider. */
export const providerUrnOf = (name: string) =>
  `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::${name || "default"}::1`;

/** The state of a stack. */
export class Stack {
  resources: readonly Recorded[] = [];
  /** What the run under way is about to create, and then what killed runs were: nothing here takes one of those away (engine rule 23). */
  pendingCreates: readonly Operation[] = [];
  /** While a program runs, the engine knows the root of the stack. */
  isProgramRunning = false;
  /** Whether the native plugin manages it: it knows the stack always, and its `check` no hidden time. */
  isNative = false;
  /** Where it is, as its program knows. */
  organization = "organization";
  rootDirectory = "rootDirectory";

  /** What `pulumi stack export` prints. */
  get deployment(): Deployment {
    return {
      resources: [{ urn: ROOT_URN, type: "pulumi:pulumi:Stack" }, ...this.resources.map(encrypted)],
      pending_operations: this.pendingCreates.map((resource) => ({
        type: "creating",
        resource: encrypted(resource),
      })),
    };
  }
}

/** Returns a resource as it is printed: with what is secret encrypted. */
function encrypted({ isSecret, ...resource }: Operation & { readonly outputs?: Properties }): Resource {
  if (!isSecret) return resource;
  const { inputs, outputs } = resource;
  return {
    ...resource,
    inputs: { ...inputs, url: ENCRYPTED },
    ...(outputs && { outputs: { ...outputs, url: ENCRYPTED } }),
  };
}

/**
 * One command of the engine on a stack: a model that calls a provider's verbs in the real engine's own order (package
 * `resource/deploy` of pulumi/pkg: step_generator.go, step.go).
 */
export class EngineRun {
  readonly #problems: string[] = [];
  readonly #verbs = new Map<string, Verbs>();
  /** The creations that this command has begun and not ended, in their order. */
  #operations: readonly Operation[] = [];
  /** What killed runs were about to create. */
  readonly #left: readonly Operation[];
  /** The resources that this command has registered. They stand before the rest in the state. */
  readonly #done: Recorded[] = [];
  /** The steps under way. */
  readonly #steps = new Set<Promise<unknown>>();

  /** @param open starts the process of one provider for this command: of an explicit one, or of what is written by hand */
  constructor(
    private readonly stack: Stack,
    private readonly open: (provider: string) => Verbs,
    private readonly options: RunOptions & {
      readonly isPreview: boolean;
      /** Fires at Ctrl-C: what is under way ends, and nothing more is begun. */
      readonly cancelled: AbortSignal;
    },
  ) {
    this.#left = stack.pendingCreates;
  }

  /** Runs it; an `up` without a preview. Refresh and destroy need no program. */
  async run(command: Command, program: readonly Declared[]): Promise<Problems> {
    const isCondemned = (each: Recorded) => each.delete === true || !this.#done.includes(each);
    const refresh = () => this.#refreshAll();
    const register = () => this.#registerAll(program);
    const phases = {
      preview: [register],
      up: [...(this.options.refresh ? [refresh] : []), register, () => this.#deleteAll(isCondemned)],
      refresh: [refresh],
      destroy: [() => this.#deleteAll(() => true)],
    };
    try {
      for (const phase of phases[command]) if (this.#problems.length === 0) await phase();
    } finally {
      this.stack.isProgramRunning = false;
    }
    return this.#problems;
  }

  async #registerAll(program: readonly Declared[]): Promise<void> {
    this.stack.isProgramRunning = true;
    for (const declared of program) {
      // Steps run while the next resource is planned, and a step that failed ends the planning.
      if (this.#problems.length > 0 || this.#isCancelled()) break;
      const step = await this.#noted(declared.name, () => this.#plan(declared));
      if (step && !this.options.isPreview) await this.#start(declared.name, step);
    }
    await Promise.all(this.#steps);
  }

  async #refreshAll(): Promise<void> {
    for (const each of this.stack.resources.filter(({ pendingReplacement }) => !pendingReplacement))
      await this.#start(nameOf(each.urn), () => this.#refresh(each));
    await Promise.all(this.#steps);
  }

  async #deleteAll(isCondemned: (resource: Recorded) => boolean): Promise<void> {
    for (const each of this.stack.resources.filter(isCondemned).toReversed())
      await this.#start(nameOf(each.urn), () => this.#delete(each));
    await Promise.all(this.#steps);
  }

  /** Checks and diffs, and gives the step that must follow. */
  async #plan(declared: Declared): Promise<(() => Promise<void>) | undefined> {
    const { name, provider = "", aliases = [], deleteBeforeReplace = false, isSecret } = declared;
    const type = declared.type ?? (this.stack.isNative ? NATIVE_TYPE_TOKEN : TYPE_TOKEN);
    const inComponent = declared.parent === undefined ? type : `${declared.parent}$${type}`;
    const place = { type, provider: providerUrnOf(provider) };
    const verbs = this.#open(place);
    const [urn = "", ...others] = [name, ...aliases].map((each) =>
      each.startsWith("urn:") ? each : urnOf(each, inComponent),
    );
    const urns = [urn, ...others];
    const old = this.stack.resources.find((each) => urns.includes(each.urn) && !each.delete);
    const isForced = old !== undefined && (this.options.replace?.includes(name) ?? false);
    const goalFrom = async (olds: Properties): Promise<Operation> => {
      const isKept = declared.ignoresUrl && old !== undefined;
      const args = { ...declared.args, ...(isKept && { url: old.inputs.url }) };
      const { inputs, failures } = await verbs.check(olds, { ...args, ...this.#hiddenInputs(declared, urn) });
      if (failures.length > 0) throw new VerbError(failures.map(({ reason }) => reason).join("; "));
      return { ...place, urn, inputs, ...(isSecret && { isSecret }) };
    };
    const goal = await goalFrom(old && !isForced ? old.inputs : {});
    if (!old) return () => this.#create(goal, verbs);
    const { id, outputs } = old;
    const { changes, replaces } = isForced
      ? { changes: true, replaces: ["id"] }
      : await verbs.diff(id, outputs, goal.inputs);
    if (replaces.length > 0 || old.pendingReplacement) {
      const anew = isForced ? goal : await goalFrom({});
      if (!deleteBeforeReplace) return () => this.#create(anew, verbs, old);
      return async () => {
        const gone = { ...old, pendingReplacement: true };
        if (!old.pendingReplacement) await this.#delete(old, gone);
        if (this.options.cancelled.aborted) return;
        await this.#create(anew, verbs);
        this.#put(old.pendingReplacement ? old : gone);
      };
    }
    if (this.options.isPreview) return undefined;
    if (changes || old.initErrors)
      return async () => {
        const { outs } = await verbs.update(id, outputs, goal.inputs);
        this.#record({ ...goal, id, outputs: outs }, old);
      };
    this.#record({ ...goal, id, outputs }, old);
    return undefined;
  }

  /** Returns what the program's class adds to the arguments, or the native plugin. */
  #hiddenInputs({ type, isSecret }: Declared, urn: string): Properties {
    if (type === HAND_WRITTEN) return { __provider: "exports.handler = …" };
    const its = { [URN_INPUT]: urn, [SECRET_INPUT]: isSecret ?? false };
    if (this.stack.isNative) return its;
    const { organization, rootDirectory } = this.stack;
    const place = { [ORGANIZATION_INPUT]: organization, [ROOT_INPUT]: rootDirectory };
    const after = this.options.isPreview ? UNKNOWN_VALUE : 0;
    return { ...its, ...place, [AFTER_INPUT]: after, __provider: PROVIDER_CODE };
  }

  /** Creates, instead of the old one if there is any, which is then to be deleted. The last try decides the outcome. */
  async #create(goal: Operation, verbs: Verbs, old?: Recorded): Promise<void> {
    const condemned = old && { ...old, delete: true };
    const operation = { ...goal };
    this.#note([...this.#operations, operation]);
    const ended = () => this.#note(this.#operations.filter((each) => each !== operation));
    for (let left = this.options.retries ?? 0; ; left--) {
      try {
        const { id, outs } = await verbs.create(goal.inputs);
        ended();
        return this.#record({ ...goal, id, outputs: outs }, old, condemned);
      } catch (error) {
        if (!(error instanceof VerbError)) throw error;
        if (left > 0) continue;
        ended();
        if (!error.halfMade) throw error;
        const { id, properties, reasons } = error.halfMade;
        this.#record({ ...goal, id, outputs: properties, initErrors: reasons }, old, condemned);
        throw error;
      }
    }
  }

  #note(operations: readonly Operation[]): void {
    this.#operations = operations;
    this.stack.pendingCreates = [...operations, ...this.#left];
  }

  async #refresh(resource: Recorded): Promise<void> {
    const verbs = this.#open(resource);
    const { id, props, inputs } = await verbs.read(resource.id, resource.outputs);
    if (!id || !props) return this.#put(resource);
    const { initErrors: _, ...kept } = resource;
    // Its sides are inverted, and what it says is only shown.
    await verbs.diff(id, props, resource.inputs);
    this.#put(resource, { ...kept, id, outputs: props, inputs: inputs ?? resource.inputs });
  }

  async #delete(resource: Recorded, left?: Recorded): Promise<void> {
    const { id, outputs, pendingReplacement } = resource;
    if (!pendingReplacement) await this.#open(resource).delete(id, outputs);
    this.#put(resource, left);
  }

  /** Leaves something, or nothing, of what is in the state. */
  #put(old: Recorded | undefined, left?: Recorded): void {
    const putIn = (each: Recorded) => (each !== old ? [each] : left ? [left] : []);
    this.stack.resources = this.stack.resources.flatMap(putIn);
  }

  /** Records a resource in place of an old one, of which something may be left. */
  #record(resource: Recorded, old?: Recorded, left?: Recorded): void {
    this.#put(old, left);
    const rest = this.stack.resources.filter((each) => !this.#done.includes(each));
    this.#done.push(resource);
    this.stack.resources = [...this.#done, ...rest];
  }

  #open(resource: Pick<Operation, "type" | "provider">): Verbs {
    const name = resource.type === HAND_WRITTEN ? HAND_WRITTEN : (providerNameOf(resource) ?? "");
    const verbs = this.#verbs.get(name) ?? this.open(name);
    this.#verbs.set(name, verbs);
    return verbs;
  }

  /** Ctrl-C is what ends the command. */
  #isCancelled(): boolean {
    const { aborted } = this.options.cancelled;
    if (aborted && !this.#problems.includes(CANCELLED)) this.#problems.push(CANCELLED);
    return aborted;
  }

  /** Starts a step when one more may be under way. */
  async #start(name: string, work: () => Promise<void>): Promise<void> {
    const { parallel = 16 } = this.options;
    while (this.#steps.size >= parallel) await Promise.race(this.#steps);
    if (this.#isCancelled()) return;
    const step = this.#noted(name, work).finally(() => this.#steps.delete(step));
    this.#steps.add(step);
    step.catch(() => {}); // a kill, which whatever waits for the steps meets
    if (parallel === 1) await step;
  }

  /** Notes what a verb failed with: the command goes on with what is under way, and then ends. */
  async #noted<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof VerbError)) throw error;
      this.#problems.push(`${name}: ${error.message}`);
      return undefined;
    }
  }
}
