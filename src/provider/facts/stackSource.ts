import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { inParallel } from "../../shared/inParallel";
import { isRecord, parseJson } from "../../shared/json";
import { quotedError, runPulumi } from "../../shared/pulumiCommand";
import { SELF_MANAGED, stackOf } from "../../shared/urn";
import type { Deployment } from "./exportedState";

/** How long the CLI may take to print something, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** A backend that does not depend on the folder where `pulumi` runs. */
const ABSOLUTE_BACKEND = /^(?!file:\/\/[^/~])[a-z]\w*:\/\//i;
/** Pulumi Cloud, where several organizations may have a stack of one project and name. */
const CLOUD = /^https?:\/\//i;

/** How long the other stacks of a backend may take in all, in milliseconds. */
const OTHERS_MS = 10_000;

/** The other stacks of a backend. */
export interface OtherStacks {
  /** The name of this run's own stack, in full. */
  readonly own: string;
  /** Those that could be read, by their full names. */
  readonly states: ReadonlyMap<string, Deployment>;
  /** How many there are, without empty ones. */
  readonly count: number;
}

/** Where a stack is, as its program knows. The native plugin knows neither. */
export interface StackPlace {
  readonly organization?: string | undefined;
  /** The folder of the project's file. An inline program of the Automation API has none: then it is not an absolute path. */
  readonly rootDirectory?: string | undefined;
}

/** What to ask. */
export interface PulumiCommand {
  readonly environment: NodeJS.ProcessEnv;
  /** Default: the command `pulumi`. */
  readonly runPulumi?: typeof runPulumi;
}

export class AmbiguousStack extends Error {
  override readonly name = "AmbiguousStack";
}

/** Finds and reads one stack with Pulumi's own command: works while a run is under way, and needs no passphrase (engine rule 37). */
export class StackSource {
  readonly #stack: string;
  readonly #project: string;

  /** @param urn the root URN of the stack */
  constructor(
    private readonly urn: string,
    private readonly place: StackPlace,
    private readonly command: PulumiCommand,
  ) {
    ({ stack: this.#stack, project: this.#project } = stackOf(urn));
  }

  /**
   * Returns what `--stack` names the stack by. In Pulumi Cloud, several organizations may have one of this project and name. If the program
   * does not say which it is, the one counts that an update works on, or the only one.
   *
   * @throws AmbiguousStack if several may be this run's, as in a preview, which is no update
   */
  async name(): Promise<string> {
    const { organization } = this.place;
    if (organization !== undefined) return `${organization}/${this.#project}/${this.#stack}`;
    const { PULUMI_BACKEND_URL: backend = "" } = this.command.environment;
    if (backend !== "" && !CLOUD.test(backend)) return this.#stack;
    const listed = await this.#namesakes();
    const running = listed.filter(({ isRunning }) => isRunning);
    const [found, another] = running.length === 1 ? running : listed;
    if (another === undefined) return found?.name ?? this.#stack;
    const names = listed.map(({ name }) => name).join(" or ");
    throw new AmbiguousStack(`this run may be of ${names}, and no update under way shows which`);
  }

  /**
   * Reads the state of the stack of this name.
   *
   * @throws Error if the CLI is not on PATH (with the code `ENOENT`), or cannot read it
   */
  async read(name: string): Promise<Deployment> {
    let result = await this.#run(["export", "--stack", name]);
    // A backend that was never upgraded has no projects, and takes no full name.
    if (result.exitCode !== 0 && this.place.organization === SELF_MANAGED) {
      const plain = await this.#run(["export", "--stack", this.#stack]);
      if (plain.exitCode === 0) result = plain;
    }
    const printed = parseJson(result.stdout);
    if (result.exitCode !== 0 || !isRecord(printed) || printed.deployment === undefined)
      throw new Error(`\`pulumi stack export --stack ${name}\` failed: ${quotedError(result)}`);
    // A stack that no run has written yet has null for either.
    const deployment: Deployment = printed.deployment ?? {};
    const { resources, pending_operations } = deployment;
    if (resources?.length && !resources.some(({ urn }) => urn === this.urn))
      throw new Error(`\`pulumi stack export --stack ${name}\` printed another stack`);
    return { resources: resources ?? [], pending_operations: pending_operations ?? [] };
  }

  /**
   * Reads the states of the backend's other stacks, eight at a time, except empty ones: as many as ten seconds allow. Never rejects.
   *
   * @param own what `name` returned
   */
  async others(own: string): Promise<OtherStacks> {
    const signal = AbortSignal.timeout(OTHERS_MS);
    const states = new Map<string, Deployment>();
    const ownName = own.includes("/") ? own : `${SELF_MANAGED}/${this.#project}/${own}`;
    const rows = await this.#list(["--all"], signal).catch(() => []);
    const names = rows.flatMap(({ name, resourceCount }) => {
      const isOther = typeof name === "string" && name !== own && name !== ownName;
      return isOther && resourceCount !== 0 ? [name] : [];
    });
    await inParallel(names, async (name) => {
      if (signal.aborted) return;
      const result = await this.#run(["export", "--stack", name], signal).catch(() => undefined);
      const printed = parseJson(result?.stdout ?? "");
      if (result?.exitCode === 0 && isRecord(printed)) states.set(name, printed.deployment ?? {});
    });
    return { own: ownName, states, count: names.length };
  }

  /** Returns whether a stack of this name can only be this run's, because nothing else has the name in the backend that the run uses. */
  isCertain(): boolean {
    const { organization, rootDirectory = "" } = this.place;
    const { PULUMI_BACKEND_URL: backend = "" } = this.command.environment;
    if (ABSOLUTE_BACKEND.test(backend)) return organization !== undefined || !CLOUD.test(backend);
    return isAbsolute(rootDirectory) && organization !== undefined && organization !== SELF_MANAGED;
  }

  /** Returns whether an update of the stack of this name is under way, and of no other one that it may be taken for. Only Pulumi Cloud tells. */
  async isRunning(name: string): Promise<boolean> {
    const running = (await this.#namesakes()).filter((each) => each.isRunning);
    const others = running.filter((each) => each.name !== name);
    return running.length > others.length && (this.place.organization !== undefined || others.length === 0);
  }

  /** Returns the stacks of this project and name, by their full names: one for each organization. */
  async #namesakes(): Promise<readonly { readonly name: string; readonly isRunning: boolean }[]> {
    const rows = await this.#list(["--project", this.#project]);
    return rows.flatMap(({ name, updateInProgress }) => {
      const isOurs = typeof name === "string" && name.endsWith(`/${this.#project}/${this.#stack}`);
      return isOurs ? [{ name, isRunning: updateInProgress === true }] : [];
    });
  }

  /** Lists stacks by their full names. None if the list cannot be read: then nothing is concluded from it. */
  async #list(which: readonly string[], signal?: AbortSignal): Promise<readonly Record<string, unknown>[]> {
    const { stdout } = await this.#run(["ls", ...which, "--json", "--fully-qualify-stack-names"], signal);
    const listed = parseJson(stdout);
    return Array.isArray(listed) ? listed.filter(isRecord) : [];
  }

  #run(args: readonly string[], signal = AbortSignal.timeout(TIMEOUT_MS)) {
    const { environment, runPulumi: run = runPulumi } = this.command;
    const { rootDirectory = "" } = this.place;
    // This process is in the program's folder, and a relative backend counts from the project's.
    const cwd = isAbsolute(rootDirectory) ? rootDirectory : projectFolder();
    // A relative one would count twice (engine rule 40).
    const env = { ...environment, PULUMI_OPTION_CWD: "" };
    return run(["stack", ...args], { cwd, env, signal });
  }
}

/** Returns the nearest folder above this one that has a project's file, as Pulumi looks for it; this one if there is none. */
function projectFolder(): string {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if (["yaml", "yml", "json"].some((kind) => existsSync(join(folder, `Pulumi.${kind}`)))) return folder;
    if (folder === dirname(folder)) return process.cwd();
  }
}
