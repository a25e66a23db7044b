import { NAME_INPUT, ORGANIZATION_INPUT } from "../../src/provider/arguments";
import type { Deployment } from "../../src/provider/stackState";
import { AFTER_INPUT, TYPE_TOKEN } from "../../src/shared/permanent";
import { UNKNOWN_VALUE } from "../../src/shared/unknownValue";
import { nameOf } from "../../src/shared/urn";
import { Killed, type Made, type Process, type Properties, VerbError } from "./process";

export type Verbs = Pick<Process, "check" | "diff" | "create" | "read" | "update" | "delete">;

export type Command = "preview" | "up" | "refresh" | "destroy";

/** A resource of a program. */
export interface Declared {
  readonly name: string;
  readonly args: Properties;
  /** The explicit provider by its name; "" is the default one. */
  readonly provider?: string;
  /** Names that the resource had before. */
  readonly aliases?: readonly string[];
  readonly deleteBeforeReplace?: boolean;
}

/** A resource that some run began to create and did not record. */
export interface PendingCreate {
  readonly urn: string;
  readonly type: string;
  readonly provider: string;
  readonly inputs: Properties;
}

/** A resource of a state, in the shape of `pulumi stack export` as far as it matters here. */
export interface Resource extends PendingCreate {
  readonly id: string;
  readonly outputs: Properties;
  /** To be deleted by the next `up`. */
  readonly delete?: boolean;
  /** Half-made (engine rule 8). */
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

/** What went wrong in a command, each with the name of the resource: nothing, when it succeeded. */
export type Problems = readonly string[];

export interface StackOptions {
  /** Starts the process of one provider for one command. */
  readonly open: (provider: string) => Verbs;
  /** Told of each program that starts or ends: while one runs, the engine knows the root of the stack. */
  readonly programRuns: (isRunning: boolean) => void;
}

/** The URN of the stack. */
export const ROOT_URN = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const urnOf = (name: string) => `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;

/**
 * A stack and the engine that works on it: a small model that calls a provider's verbs in the real engine's own order
 * (package `resource/deploy` of pulumi/pkg: step_generator.go, step.go).
 */
export class Stack {
  resources: readonly Resource[] = [];
  /**
   * The `pending_operations` of type `creating` (engine rule 23): what the run under way is about to create, and then what
   * killed runs were. Nothing here takes one of those away.
   */
  pendingCreates: readonly PendingCreate[] = [];

  constructor(private readonly options: StackOptions) {}

  /** Runs a command; an `up` without a preview. Refresh and destroy need no program. */
  run(command: Command, program: readonly Declared[], options: RunOptions = {}): Promise<Problems> {
    const run = new Run(this, { ...this.options, ...options, dryRun: command === "preview" });
    return run.outcome(async () => {
      if (command === "destroy") return run.deleteAll(() => true);
      if (command === "refresh" || (command === "up" && options.refresh)) await run.refreshAll();
      if (command === "refresh") return;
      const registered = await run.registerAll(program);
      if (command === "up")
        await run.deleteAll((resource) => resource.delete === true || !registered.has(resource));
    });
  }
}

class Failed extends Error {}

/** One command of the engine. */
class Run {
  readonly #verbs = new Map<string, Verbs>();
  readonly #problems: string[] = [];
  /** The creations that this command has begun and not ended, in their order. */
  readonly #operations: PendingCreate[] = [];
  /** What killed runs were about to create. */
  readonly #left: readonly PendingCreate[];
  /** The resources that this command has registered. They stand before the rest in the state. */
  readonly #done: Resource[] = [];

  constructor(
    private readonly stack: Stack,
    private readonly options: StackOptions & RunOptions & { readonly dryRun?: boolean },
  ) {
    this.#left = stack.pendingCreates;
  }

  async outcome(work: () => Promise<unknown>): Promise<Problems> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
    } finally {
      this.options.programRuns(false);
    }
    return this.#problems;
  }

  /** Registers each resource of the program. Gives what the state holds of them afterwards. */
  async registerAll(program: readonly Declared[]): Promise<ReadonlySet<Resource>> {
    const steps = this.#pool();
    this.options.programRuns(true);
    for (const declared of program) {
      // Steps run while the next resource is planned, and a step that failed ends the planning.
      if (this.#problems.length > 0 || steps.hasFailed) break;
      const step = await this.#guarded(declared.name, () => this.#plan(declared));
      if (step) await steps.add(() => this.#guarded(declared.name, step));
    }
    await this.#end(steps);
    return new Set(this.#done);
  }

  async refreshAll(): Promise<void> {
    const steps = this.#pool();
    for (const resource of this.stack.resources.filter((each) => !each.pendingReplacement))
      await steps.add(() => this.#guarded(nameOf(resource.urn), () => this.#refresh(resource)));
    await this.#end(steps);
  }

  async deleteAll(isCondemned: (resource: Resource) => boolean): Promise<void> {
    const steps = this.#pool();
    for (const resource of this.stack.resources.filter(isCondemned).toReversed())
      await steps.add(() => this.#guarded(nameOf(resource.urn), () => this.#delete(resource)));
    await this.#end(steps);
  }

  /** Checks and diffs, and gives the step that must follow. */
  async #plan(declared: Declared): Promise<(() => Promise<void>) | undefined> {
    const { name, args, provider = "", deleteBeforeReplace = false } = declared;
    const verbs = this.#open(provider);
    const old = this.#find([name, ...(declared.aliases ?? [])]);
    const goalFrom = async (olds: Properties): Promise<PendingCreate> => {
      // What the program's class adds.
      const after = this.options.dryRun ? UNKNOWN_VALUE : 0;
      const hidden = { [NAME_INPUT]: name, [ORGANIZATION_INPUT]: "organization", [AFTER_INPUT]: after };
      const { inputs, failures } = await verbs.check(olds, { ...args, ...hidden });
      if (failures.length > 0) throw new VerbError(failures.map(({ reason }) => reason).join("; "));
      return { urn: urnOf(name), type: TYPE_TOKEN, provider, inputs };
    };
    const isForced = old !== undefined && (this.options.replace?.includes(name) ?? false);
    const goal = await goalFrom(old && !isForced ? old.inputs : {});
    if (!old) return () => this.#create(goal, verbs);
    const { changes, replaces } = isForced
      ? { changes: true, replaces: ["id"] }
      : await verbs.diff(old.id, old.outputs, goal.inputs);
    if (replaces.length > 0 || old.pendingReplacement) {
      const anew = isForced ? goal : await goalFrom({});
      return () => this.#replace(old, anew, { verbs, deleteBeforeReplace });
    }
    const { id, outputs } = old;
    if (!changes && !old.initErrors) {
      this.#commit({ ...goal, id, outputs }, old);
      return undefined;
    }
    return async () => {
      if (!this.options.dryRun) this.#commit({ ...goal, id, outputs: await verbs.update(id, outputs) }, old);
    };
  }

  async #replace(
    old: Resource,
    goal: PendingCreate,
    { verbs, deleteBeforeReplace }: { readonly verbs: Verbs; readonly deleteBeforeReplace: boolean },
  ): Promise<void> {
    if (this.options.dryRun) return;
    if (!deleteBeforeReplace) return this.#create(goal, verbs, old);
    let gone = old;
    if (!old.pendingReplacement) {
      await this.#delete(old, { ...old, pendingReplacement: true });
      gone = this.#find([nameOf(old.urn)]) ?? old;
    }
    await this.#create(goal, verbs);
    this.stack.resources = this.stack.resources.filter((resource) => resource !== gone);
  }

  /** Creates, instead of the old one if there is any, which is then to be deleted. */
  async #create(goal: PendingCreate, verbs: Verbs, old?: Resource): Promise<void> {
    if (this.options.dryRun) return;
    const condemned = old && { ...old, delete: true };
    const operation = { ...goal };
    this.#note([...this.#operations, operation]);
    const ended = () => this.#note(this.#operations.filter((each) => each !== operation));
    try {
      const { id, properties } = await this.#createOrRetry(goal, verbs);
      ended();
      this.#commit({ ...goal, id, outputs: properties }, old, condemned);
    } catch (error) {
      if (!(error instanceof Killed)) ended();
      if (error instanceof VerbError && error.halfMade) {
        const { id, properties, reasons } = error.halfMade;
        this.#commit({ ...goal, id, outputs: properties, initErrors: reasons }, old, condemned);
      }
      throw error;
    }
  }

  /** Tries again as often as a hook asks for it. The last try decides the outcome. */
  async #createOrRetry({ inputs }: PendingCreate, verbs: Verbs): Promise<Made> {
    for (let left = this.options.retries ?? 0; ; left--) {
      try {
        return await verbs.create(inputs);
      } catch (error) {
        if (!(error instanceof VerbError) || left <= 0) throw error;
      }
    }
  }

  #note(operations: readonly PendingCreate[]): void {
    this.#operations.splice(0, this.#operations.length, ...operations);
    this.stack.pendingCreates = [...operations, ...this.#left];
  }

  async #refresh(resource: Resource): Promise<void> {
    const verbs = this.#open(resource.provider);
    const read = await verbs.read(resource.id, resource.outputs);
    const { initErrors: _, ...kept } = resource;
    const fresh = read && {
      ...kept,
      id: read.id,
      inputs: read.inputs ?? resource.inputs,
      outputs: read.properties,
    };
    // Its sides are inverted, and what it says is only shown.
    if (fresh) await verbs.diff(fresh.id, fresh.outputs, resource.inputs);
    this.#put(resource, fresh);
  }

  async #delete(resource: Resource, left?: Resource): Promise<void> {
    // A replacement that deletes first, and whose creation failed, has deleted it already.
    if (!resource.pendingReplacement)
      await this.#open(resource.provider).delete(resource.id, resource.outputs);
    this.#put(resource, left);
  }

  #put(old: Resource | undefined, left: Resource | undefined): void {
    this.stack.resources = this.stack.resources.flatMap((each) =>
      each === old ? (left ? [left] : []) : [each],
    );
  }

  /** Records a resource in place of an old one, of which something may be left. */
  #commit(resource: Resource, old?: Resource, left?: Resource): void {
    this.#put(old, left);
    const rest = this.stack.resources.filter((each) => !this.#done.includes(each));
    this.#done.push(resource);
    this.stack.resources = [...this.#done, ...rest];
  }

  #find(names: readonly string[]): Resource | undefined {
    const urns = names.map(urnOf);
    return this.stack.resources.find(({ urn, delete: isCondemned }) => urns.includes(urn) && !isCondemned);
  }

  #open(provider: string): Verbs {
    const verbs = this.#verbs.get(provider) ?? this.options.open(provider);
    this.#verbs.set(provider, verbs);
    return verbs;
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

  #pool(): Pool {
    return new Pool(this.options.parallel ?? 16);
  }

  async #end(steps: Pool): Promise<void> {
    await steps.drained();
    if (this.#problems.length > 0) throw new Failed();
  }
}

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
    const failed = (error: unknown) => {
      this.#failure ??= { error };
    };
    const running: Promise<void> = work()
      .then(() => undefined, failed)
      .then(() => void this.#running.delete(running));
    this.#running.add(running);
    if (this.size === 1) await running;
  }

  async drained(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure) throw this.#failure.error;
  }
}

/** Returns what `pulumi stack export` prints of a stack. */
export function deploymentOf({ resources, pendingCreates }: Stack): Deployment {
  const exported = <T extends PendingCreate>(resource: T) => {
    const name = resource.provider === "" ? "default" : resource.provider;
    return { ...resource, provider: `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::${name}::1` };
  };
  return {
    resources: [{ urn: ROOT_URN, type: "pulumi:pulumi:Stack" }, ...resources.map(exported)],
    pending_operations: pendingCreates.map((each) => ({ type: "creating", resource: exported(each) })),
  };
}
