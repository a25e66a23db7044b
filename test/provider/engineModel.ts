import { NAME_INPUT, ORGANIZATION_INPUT } from "../../src/provider/arguments";
import type { Deployment } from "../../src/provider/stackState";
import { AFTER_INPUT, TYPE_TOKEN } from "../../src/shared/permanent";
import { UNKNOWN_VALUE } from "../../src/shared/unknownValue";
import { nameOf } from "../../src/shared/urn";
import { Killed, type Made, type Process, type Properties, VerbError } from "./process";

export type Verbs = Pick<Process, "check" | "diff" | "create" | "read" | "update" | "delete">;

/** A resource of a program. */
export interface Declared {
  readonly name: string;
  readonly args: Properties;
  /** The explicit provider by its name; "" is the default one. */
  readonly provider?: string;
  /** Names that the resource had before. */
  readonly aliases?: readonly string[];
  readonly deleteBeforeReplace?: boolean;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
}

/** A resource of a state, in the shape of `pulumi stack export` as far as it matters here. */
export interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly provider: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
  /** To be deleted by the next `up`. */
  readonly delete?: boolean;
  /** Half-made (engine rule 8). */
  readonly initErrors?: readonly string[];
  /** Deleted already, by a replacement that deletes first and whose creation failed. */
  readonly pendingReplacement?: boolean;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
}

export interface RunOptions {
  /** Only these resources, by name. */
  readonly targets?: readonly string[];
  /** These are replaced, whatever `diff` would say. */
  readonly replace?: readonly string[];
  /** Reads the state again first, in the same command: `up --refresh`. */
  readonly refresh?: boolean;
  /** How many steps at once: `--parallel`. Default 16. */
  readonly parallel?: number;
  /** How often an `onError` hook has a creation that failed tried again (engine rule 30). Default 0. */
  readonly retries?: number;
}

/** A resource that some run began to create and did not record. */
export type PendingCreate = Omit<Resource, "id" | "outputs">;

/** What went wrong in a command, each with the name of the resource: nothing, when it succeeded. */
export type Problems = readonly string[];

export interface StackOptions {
  /** Starts the process of one provider for one command. */
  readonly open: (provider: string) => Verbs;
  /** Told of each verb that is called, with the name of the resource. */
  readonly trace?: (verb: string, name: string) => void;
  /** Told of each program that starts or ends: while one runs, the engine knows the root of the stack. */
  readonly programRuns?: (isRunning: boolean) => void;
}

/** The URN of the stack. */
export const ROOT_URN = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const PROVIDER_TYPE = "pulumi:providers:pulumi-nodejs";
const urnOf = (name: string) => `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;

/**
 * A stack and the engine that works on it: a small model that calls a provider's verbs in the real engine's own order
 * (package `resource/deploy` of pulumi/pkg: step_generator.go, step.go), checked against the real CLI.
 */
export class Stack {
  readonly #options: StackOptions;
  resources: readonly Resource[] = [];
  /**
   * The `pending_operations` of type `creating` (engine rule 23): what the run under way is about to create, and then what
   * killed runs were. Nothing here takes one of those away.
   */
  pendingCreates: readonly PendingCreate[] = [];
  constructor(options: StackOptions) {
    this.#options = options;
  }

  /** `pulumi preview`. */
  async preview(program: readonly Declared[], options: RunOptions = {}): Promise<Problems> {
    const run = new Run(this, this.#options, { ...options, dryRun: true });
    return run.outcome(() => run.registerAll(program));
  }

  /** `pulumi up --skip-preview`. */
  async up(program: readonly Declared[], options: RunOptions = {}): Promise<Problems> {
    const run = new Run(this, this.#options, options);
    return run.outcome(async () => {
      if (options.refresh) await run.refreshAll();
      const registered = await run.registerAll(program);
      await run.deleteAll(
        (resource) => resource.delete === true || (run.targets(resource) && !registered.has(resource)),
      );
    });
  }

  async refresh(options: RunOptions = {}): Promise<Problems> {
    const run = new Run(this, this.#options, options);
    return run.outcome(() => run.refreshAll());
  }

  async destroy(options: RunOptions = {}): Promise<Problems> {
    const run = new Run(this, this.#options, options);
    return run.outcome(() => run.deleteAll((resource) => run.targets(resource)));
  }
}

class Failed extends Error {}

/** One command of the engine. */
class Run {
  readonly #stack: Stack;
  readonly #options: StackOptions & RunOptions & { readonly dryRun?: boolean };
  readonly #verbs = new Map<string, Verbs>();
  readonly #problems: string[] = [];
  /** The creations that this command has begun and not ended, in their order. */
  readonly #operations: PendingCreate[] = [];
  /** What killed runs were about to create. */
  readonly #left: readonly PendingCreate[];
  /** The resources that this command has registered. They stand before the rest in the state. */
  #done: Resource[] = [];

  constructor(stack: Stack, options: StackOptions, run: RunOptions & { readonly dryRun?: boolean }) {
    this.#stack = stack;
    this.#left = stack.pendingCreates;
    this.#options = { ...options, ...run };
  }

  async outcome(work: () => Promise<unknown>): Promise<Problems> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
    } finally {
      this.#options.programRuns?.(false);
    }
    return this.#problems;
  }

  targets({ urn }: Pick<Resource, "urn">): boolean {
    return this.#options.targets?.includes(nameOf(urn)) ?? true;
  }

  /** Registers each resource of the program. Gives what the state holds of them afterwards. */
  async registerAll(program: readonly Declared[]): Promise<ReadonlySet<Resource>> {
    const steps = new Pool(this.#options.parallel ?? 16);
    this.#options.programRuns?.(true);
    for (const declared of program) {
      // Steps run while the next resource is planned, and a step that failed ends the planning.
      if (this.#problems.length > 0 || steps.hasFailed) break;
      const step = await this.#guarded(declared.name, () => this.#plan(declared));
      if (step) await steps.add(() => this.#guarded(declared.name, step));
    }
    await steps.drained();
    this.#stopIfFailed();
    return new Set(this.#done);
  }

  async refreshAll(): Promise<void> {
    const steps = new Pool(this.#options.parallel ?? 16);
    for (const resource of this.#stack.resources.filter((each) => this.targets(each))) {
      if (resource.pendingReplacement) continue;
      await steps.add(() => this.#guarded(nameOf(resource.urn), () => this.#refresh(resource)));
    }
    await steps.drained();
    this.#stopIfFailed();
  }

  async deleteAll(condemned: (resource: Resource) => boolean): Promise<void> {
    const steps = new Pool(this.#options.parallel ?? 16);
    for (const resource of this.#stack.resources.filter(condemned).toReversed()) {
      await steps.add(() => this.#guarded(nameOf(resource.urn), () => this.#delete(resource)));
    }
    await steps.drained();
    this.#stopIfFailed();
  }

  /** Checks and diffs, and gives the step that must follow. */
  async #plan(declared: Declared): Promise<(() => Promise<void>) | undefined> {
    const { name, args, provider = "" } = declared;
    const old = this.#find([name, ...(declared.aliases ?? [])]);
    if (!this.targets({ urn: urnOf(name) })) {
      if (old) this.#commit({ ...old }, old);
      return undefined;
    }
    const verbs = this.#open(provider);
    const check = async (olds: Properties) => {
      this.#trace("check", name);
      // What the program's class adds.
      const after = this.#options.dryRun ? UNKNOWN_VALUE : 0;
      const hidden = { [NAME_INPUT]: name, [ORGANIZATION_INPUT]: "organization", [AFTER_INPUT]: after };
      const { inputs, failures } = await verbs.check(olds, { ...args, ...hidden });
      if (failures.length > 0) throw new VerbError(failures.map(({ reason }) => reason).join("; "));
      return inputs;
    };
    const forced = old !== undefined && (this.#options.replace?.includes(name) ?? false);
    const inputs = await check(old && !forced ? old.inputs : {});
    const { protect, retainOnDelete } = declared;
    const goal = {
      urn: urnOf(name),
      type: TYPE_TOKEN,
      provider,
      inputs,
      ...(protect ? { protect } : {}),
      ...(retainOnDelete ? { retainOnDelete } : {}),
    };
    if (!old) return () => this.#create(goal, verbs);
    if (!forced) this.#trace("diff", name);
    const { changes, replaces } = forced
      ? { changes: true, replaces: ["id"] }
      : await verbs.diff(old.id, old.outputs, inputs);
    if (replaces.length > 0 || old.pendingReplacement) {
      if (protect && old.protect) throw new VerbError(`unable to replace ${name}: it is protected`);
      const anew = forced ? goal : { ...goal, inputs: await check({}) };
      return () => this.#replace(old, anew, verbs, declared.deleteBeforeReplace ?? false);
    }
    if (!changes && !old.initErrors) {
      this.#commit({ ...goal, id: old.id, outputs: old.outputs }, old);
      return undefined;
    }
    return async () => {
      if (this.#options.dryRun) return;
      this.#trace("update", name);
      const outputs = await verbs.update(old.id, old.outputs);
      this.#commit({ ...goal, id: old.id, outputs }, old);
    };
  }

  async #replace(old: Resource, goal: Goal, verbs: Verbs, deleteFirst: boolean): Promise<void> {
    if (this.#options.dryRun) return;
    if (!deleteFirst) return this.#create(goal, verbs, old);
    let gone = old;
    if (!old.pendingReplacement) {
      await this.#delete(old, { ...old, pendingReplacement: true });
      gone = this.#find([nameOf(old.urn)]) ?? old;
    }
    await this.#create(goal, verbs);
    this.#stack.resources = this.#stack.resources.filter((resource) => resource !== gone);
  }

  /** Creates, instead of the old one if there is any, which is then to be deleted. */
  async #create(goal: Goal, verbs: Verbs, old?: Resource): Promise<void> {
    if (this.#options.dryRun) return;
    const condemned = old && { ...old, delete: true };
    const pending: PendingCreate = { ...goal };
    this.#operations.push(pending);
    this.#stack.pendingCreates = [...this.#operations, ...this.#left];
    try {
      const { id, properties } = await this.#createOrRetry(goal, verbs);
      this.#end(pending);
      this.#commit({ ...goal, id, outputs: properties }, old, condemned);
    } catch (error) {
      if (!(error instanceof Killed)) this.#end(pending);
      if (error instanceof VerbError && error.halfMade) {
        const { id, properties, reasons } = error.halfMade;
        this.#commit({ ...goal, id, outputs: properties, initErrors: reasons }, old, condemned);
      }
      throw error;
    }
  }

  /** Tries again as often as a hook asks for it. The last try decides the outcome. */
  async #createOrRetry(goal: Goal, verbs: Verbs): Promise<Made> {
    for (let left = this.#options.retries ?? 0; ; left--) {
      this.#trace("create", nameOf(goal.urn));
      try {
        return await verbs.create(goal.inputs);
      } catch (error) {
        if (!(error instanceof VerbError) || left <= 0) throw error;
      }
    }
  }

  #end(pending: PendingCreate): void {
    this.#operations.splice(this.#operations.indexOf(pending), 1);
    this.#stack.pendingCreates = [...this.#operations, ...this.#left];
  }

  async #refresh(resource: Resource): Promise<void> {
    const name = nameOf(resource.urn);
    const verbs = this.#open(resource.provider);
    this.#trace("read", name);
    const read = await verbs.read(resource.id, resource.outputs);
    if (!read) {
      this.#stack.resources = this.#stack.resources.filter((each) => each !== resource);
      return;
    }
    const { initErrors: _, ...kept } = resource;
    const inputs = read.inputs ?? resource.inputs;
    // Its sides are inverted, and what it says is only shown.
    this.#trace("diff", name);
    await verbs.diff(read.id, read.properties, resource.inputs);
    const fresh: Resource = { ...kept, id: read.id, inputs, outputs: read.properties };
    this.#stack.resources = this.#stack.resources.map((each) => (each === resource ? fresh : each));
  }

  async #delete(resource: Resource, left?: Resource): Promise<void> {
    if (resource.protect && !resource.delete && !left) {
      throw new VerbError(`unable to delete ${nameOf(resource.urn)}: it is protected`);
    }
    // A replacement that deletes first, and whose creation failed, has deleted it already.
    if (!resource.pendingReplacement && !resource.retainOnDelete) {
      const verbs = this.#open(resource.provider);
      this.#trace("delete", nameOf(resource.urn));
      await verbs.delete(resource.id, resource.outputs);
    }
    this.#stack.resources = this.#stack.resources.flatMap((each) =>
      each === resource ? (left ? [left] : []) : [each],
    );
  }

  /** Records a resource in place of an old one, of which something may be left. */
  #commit(resource: Resource, old?: Resource, left?: Resource): void {
    const rest = this.#stack.resources
      .filter((each) => !this.#done.includes(each))
      .flatMap((each) => (each === old ? (left ? [left] : []) : [each]));
    this.#done.push(resource);
    this.#stack.resources = [...this.#done, ...rest];
  }

  #find(names: readonly string[]): Resource | undefined {
    const urns = names.map(urnOf);
    return this.#stack.resources.find(({ urn, delete: condemned }) => urns.includes(urn) && !condemned);
  }

  #open(provider: string): Verbs {
    const verbs = this.#verbs.get(provider) ?? this.#options.open(provider);
    this.#verbs.set(provider, verbs);
    return verbs;
  }

  #trace(verb: string, name: string): void {
    this.#options.trace?.(verb, name);
  }

  /** Notes what a verb failed with: the command goes on with what is under way, and then ends. */
  async #guarded<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof VerbError)) throw error;
      this.#problems.push(`${name}: ${error.message}`);
      return undefined;
    }
  }

  #stopIfFailed(): void {
    if (this.#problems.length > 0) throw new Failed();
  }
}

type Goal = PendingCreate;

/** Runs so much at once, in the order in which it was added. */
class Pool {
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;

  constructor(private readonly size: number) {}

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  async add(work: () => Promise<unknown>): Promise<void> {
    while (this.#running.size >= this.size) await Promise.race(this.#running);
    if (this.#failure) return;
    const running = work().then(
      () => undefined,
      (error: unknown) => {
        this.#failure ??= { error };
      },
    );
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    if (this.size === 1) await running;
  }

  async drained(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure.error;
  }
}

/** Returns what `pulumi stack export` prints of a stack. */
export function deploymentOf({ resources, pendingCreates }: Stack): Deployment {
  const providerOf = (name: string) =>
    `urn:pulumi:dev::test::${PROVIDER_TYPE}::${name === "" ? "default" : name}::1`;
  const exported = <T extends { provider: string }>(resource: T) => ({
    ...resource,
    provider: providerOf(resource.provider),
  });
  return {
    resources: [{ urn: ROOT_URN, type: "pulumi:pulumi:Stack" }, ...resources.map(exported)],
    pending_operations: pendingCreates.map((each) => ({ type: "creating", resource: exported(each) })),
  };
}
