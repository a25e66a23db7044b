import { runPulumi } from "../../pulumiCommand";
import { type Deployment, idsInState, isInterruptedRegistration, nameOf, type Resource } from "../deployment";
import { keyOf } from "../identity";
import { isEndpointType } from "../permanent";
import type { EndpointInputs, EndpointType } from "../types";
import {
  HISTORY_LENGTH,
  type HistoryEntry,
  isSuccessfulUp,
  type PastRun,
  PRINT_HISTORY,
  pastRuns,
  wasUnderWay,
} from "./history";
import type { JournalEntry } from "./journal";

/** How long the CLI may take to print something of a stack, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** The engine's own provider is named `default` or after its version. */
const DEFAULT_PROVIDER = /^default(_\d+_\d+_\d+\w*)?$/;

/** Returns the runs that have ended, the last one first. Undefined when they cannot be read. */
type History = () => Promise<readonly PastRun[] | undefined>;

/**
 * The stack's state as the CLI prints it, also while a run of the stack is under way (engine rule 37). It asks for the stack's
 * history only when it needs it: that costs another process.
 */
export class StackState {
  /** The ids that the state holds. */
  readonly ids: ReadonlySet<string>;
  readonly #rootUrn: string;
  readonly #deployment: Deployment;
  readonly #history: History;

  constructor(rootUrn: string, deployment: Deployment, history: History) {
    this.#rootUrn = rootUrn;
    this.ids = idsInState(deployment);
    this.#deployment = deployment;
    this.#history = history;
  }

  /**
   * Returns the entries of the journal whose endpoint neither the state holds nor a run has recorded. Undefined when the history
   * that would show it cannot be read.
   */
  async lostOf(entries: readonly JournalEntry[]): Promise<JournalEntry[] | undefined> {
    const unseen = entries.filter(({ id }) => id === undefined || !this.ids.has(id));
    const history = unseen.length === 0 ? [] : await this.#history();
    return history && unseen.filter(({ at }) => !this.#wasRecorded(at, history));
  }

  /**
   * Returns whether the state held what was registered at this moment, or nothing shows that a run of this stack lost it:
   * - An `up` that succeeded was under way. Other commands register nothing, and one may follow a kill at once.
   * - It is older than the stack: an earlier stack of this name registered it, which may have been renamed.
   * - It is older than the history that was read.
   */
  #wasRecorded(at: number, history: readonly PastRun[]): boolean {
    const oldest = history.at(HISTORY_LENGTH - 1);
    if (this.#isOlderThanStack(at, history) || (oldest && at < oldest.start)) return true;
    return history.some((run) => isSuccessfulUp(run) && wasUnderWay(run, at));
  }

  /** A stack begins with its first run, and again with the first one after each destroy. */
  #isOlderThanStack(at: number, history: readonly PastRun[]): boolean {
    const root = this.#deployment.resources?.find(({ urn }) => urn === this.#rootUrn);
    const wasDestroyed = history.some(({ kind, start }) => kind === "destroy" && start > at);
    return at < Date.parse(root?.created ?? "") && !wasDestroyed;
  }

  /**
   * No registration that is unfinished now was sent before this moment, unless an `up` that succeeded did not settle it. An
   * `up` that failed may have been ended by Ctrl-C twice, or may not have come to what an earlier one had left. Undefined when
   * the history cannot be read.
   */
  async interruptedFrom(): Promise<number | undefined> {
    const history = await this.#history();
    if (!history) return undefined;
    const settled = history.find(isSuccessfulUp);
    if (settled) return settled.end;
    const created = (this.#deployment.resources ?? []).map((resource) => Date.parse(resource.created ?? ""));
    return Math.min(...created.filter(Number.isFinite));
  }

  /**
   * Returns how many unfinished registrations of this url, type and ip the state holds, for resources of this provider that
   * it does not have. One that it has may be replaced as it is (`--replace`), or a later run may have settled the registration:
   * the state looks the same. None if others differ only in ip: the service does not tell which of them made an endpoint.
   */
  operationsLike(inputs: EndpointInputs, provider: string | undefined): number {
    const { pending_operations: operations = [], resources = [] } = this.#deployment;
    const alike = operations.filter(isInterruptedRegistration).filter(({ resource }) => {
      const { url, type, ip, adoptId } = resource.inputs ?? {};
      if (typeof url !== "string" || !isType(type) || adoptId !== undefined) return false;
      if (providerNameOf(resource) !== provider || keyOf({ url, type }) !== keyOf(inputs)) return false;
      const recorded = resources.find(
        (each) => each.urn === resource.urn && isLive(each) && providerNameOf(each) === provider,
      )?.inputs;
      return recorded?.url !== url || recorded.type !== type || recorded.ip !== ip;
    });
    return alike.every(({ resource }) => resource.inputs?.ip === inputs.ip) ? alike.length : 0;
  }

  /** Returns whether a registration is under way, as it must be in the state of the stack whose `create` asks. */
  get isRegistering(): boolean {
    return this.#deployment.pending_operations?.some(isInterruptedRegistration) ?? false;
  }

  /** Returns the id of the endpoint of this name, if exactly one has it. */
  idOf(name: string): string | undefined {
    const named = this.#endpoints.filter(({ urn }) => nameOf(urn) === name);
    return named.length === 1 ? named[0]?.id : undefined;
  }

  /** Returns the provider that has an endpoint, without a name if it is the default one; undefined when the state lacks the id. */
  providerOf(id: string): { readonly name: string | undefined } | undefined {
    const found = this.#endpoints.find((each) => each.id === id);
    return found && { name: providerNameOf(found) };
  }

  /** Returns whether the state keeps the url of an endpoint as a secret. */
  hasSecretUrl(id: string): boolean {
    const { resources = [] } = this.#deployment;
    const found = resources.filter((each) => isEndpointType(each.type) && each.id === id);
    return found.some(({ inputs, outputs }) => [inputs?.url, outputs?.url].some(isSecret));
  }

  get #endpoints(): Resource[] {
    return (this.#deployment.resources ?? []).filter(
      ({ type, delete: gone }) => isEndpointType(type) && gone !== true,
    );
  }
}

/** Reads the state of one stack as often as asked, and its history once at most: no other run of the stack ends meanwhile. */
export class StackReader {
  #history: ReturnType<History> | undefined;

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /**
   * Returns undefined when the CLI is not on PATH, or cannot read the state, or prints that of another stack with the same
   * name.
   */
  async read(rootUrn: string): Promise<StackState | undefined> {
    try {
      const { deployment } = await this.#print<{ deployment: Deployment }>(rootUrn, ["stack", "export"]);
      const isOurs = deployment.resources?.some(({ urn }) => urn === rootUrn);
      return isOurs ? new StackState(rootUrn, deployment, () => this.#historyOf(rootUrn)) : undefined;
    } catch {
      return undefined;
    }
  }

  #historyOf(rootUrn: string): ReturnType<History> {
    this.#history ??= this.#print<HistoryEntry[]>(rootUrn, PRINT_HISTORY)
      .then(pastRuns)
      .catch(() => undefined);
    return this.#history;
  }

  /** The name of a stack leaves its organization open. */
  async #print<T>(rootUrn: string, args: readonly string[]): Promise<T> {
    const stack = rootUrn.replace(/^urn:pulumi:/, "").split("::")[0] ?? "";
    const options = { env: this.environment, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const { exitCode, stdout } = await runPulumi([...args, "--stack", stack], options);
    if (exitCode !== 0) throw new Error(`pulumi ended with ${exitCode}`);
    return JSON.parse(stdout);
  }
}

/** Returns whether a resource has its endpoint: it is neither to be deleted nor deleted already by a replacement that deletes first. */
function isLive({ delete: gone, pendingReplacement }: Resource): boolean {
  return gone !== true && pendingReplacement !== true;
}

/** Without its secrets, the state holds an object in place of each. */
function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isType(type: unknown): type is EndpointType {
  return type === "production" || type === "development";
}

/** Returns the name of a resource's WebhooksProvider; undefined for the default provider. */
function providerNameOf({ provider = "" }: Resource): string | undefined {
  const name = nameOf(provider.slice(0, provider.lastIndexOf("::")));
  return DEFAULT_PROVIDER.test(name) ? undefined : name;
}
