import type { Endpoint } from "../client";
import { isEndpointType } from "../shared/permanent";
import { runPulumi } from "../shared/pulumiCommand";
import { sameUrl } from "../shared/url";
import type { Entry, StackName } from "./book";
import type { Holder } from "./decide";
import {
  type Deployment,
  type ExportedStack,
  identityOf,
  interruptedRegistrations,
  nameOf,
  plainText,
  providerNameOf,
  type Resource,
} from "./deployment";
import { hashOf } from "./files";
import { HISTORY_PRECISION_MS, isWholeUp, type PastRun, readHistory } from "./history";
import { type Identity, keyHash, keyOf } from "./identity";
import { pendingResources } from "./pendingResource";
import { mayBeSameTime, parseTimestamp, type Window } from "./time";

export const LATER_UP = "an `up` has succeeded since then and did not record it";

/** How long the CLI may take to print something of a stack, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** What tells an account from another, as a state records it. */
export interface Account {
  readonly baseUrl: string;
  /** The API key's fingerprint. */
  readonly account: string;
}

/** What a stack's state held at one moment. */
export class StackState {
  readonly #deployment: Deployment;
  readonly #ids: ReadonlySet<string | undefined>;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#ids = new Set(this.#all.map(({ id }) => id));
  }

  /**
   * Returns whether a resource has what an entry of the book stands for. Ids may count per account, and be used again: with another
   * url or type it is the same only if it was made at the same time.
   */
  has({ id, key, service, fingerprint, provider, createdAt }: Entry): boolean {
    return this.#all.some(({ id: recorded, inputs, outputs }) => {
      if (id === null || recorded !== id) return false;
      const read = (name: string) => plainText(outputs, name) ?? plainText(inputs, name);
      const [url, type, baseUrl, time = null] = ["url", "type", "baseUrl", "createdAt"].map(read);
      if (url === undefined || (type !== "production" && type !== "development")) return true;
      const isSameService = baseUrl === undefined || hashOf(baseUrl) === service;
      const isSameOrigin = isSameService && (read("account") ?? fingerprint) === fingerprint;
      // The key of a provider may have been rotated.
      const isRotated = hashOf(read("provider") ?? "") === provider && keyHash({ url, type }) === key;
      return isTimed(createdAt, time) ? mayBeSameTime(createdAt, time) : isSameOrigin || isRotated;
    });
  }

  /**
   * Returns whether a resource of the stack has an endpoint. Ids may be used again, and where the account or base URL is another
   * one, the id may be another endpoint's: with another url or type it is the same only if it was made at the same time.
   */
  holderOf(endpoint: Endpoint, { baseUrl, account }: Account): Holder {
    if (!this.#ids.has(endpoint.id)) return "nobody";
    const holders = this.#all
      .filter(({ id }) => id === endpoint.id)
      .map(({ outputs, inputs }): Holder => {
        const read = (name: string) => plainText(outputs, name) ?? plainText(inputs, name);
        const isOwn = (read("baseUrl") ?? baseUrl) === baseUrl && (read("account") ?? account) === account;
        const [url, type, createdAt = null] = ["url", "type", "createdAt"].map(read);
        const isAlike =
          (url === undefined || sameUrl(url, endpoint.url)) && (type ?? endpoint.type) === endpoint.type;
        if (isOwn && isAlike) return "somebody";
        if (!isTimed(createdAt, endpoint.createdAt)) return isOwn || isAlike ? "unclear" : "nobody";
        if (!mayBeSameTime(createdAt, endpoint.createdAt)) return "nobody";
        return isOwn ? "somebody" : "unclear";
      });
    return holders.includes("somebody") ? "somebody" : holders.includes("unclear") ? "unclear" : "nobody";
  }

  /**
   * Returns the interrupted operations that may have registered this url and type. One whose resource lives with its inputs is
   * healed: a later run settled it, or nothing but `--replace` had asked for it. What the state encrypts may be any url.
   */
  operationsLike(identity: Identity): Resource[] {
    return this.#operationsLike(identity).filter((operation) => !isHealed(operation, this.#deployment));
  }

  /** Returns the healed operations of this url and type, each with the time at which its living resource was made. */
  healedLike(identity: Identity): { readonly operation: Resource; readonly since: number }[] {
    return this.#operationsLike(identity).flatMap((operation) => {
      const live = livingOf(operation, this.#deployment);
      const isOne = live !== undefined && isHealed(operation, this.#deployment);
      return isOne ? [{ operation, since: Date.parse(live.created ?? "") }] : [];
    });
  }

  /** Returns the resources with this url and type whose registration is pending. */
  pendingLike(identity: Identity): Resource[] {
    return pendingResources(this.#deployment).filter((resource) => {
      const own = identityOf(resource);
      return own !== undefined && keyOf(own) === keyOf(identity);
    });
  }

  #operationsLike(identity: Identity): Resource[] {
    return interruptedRegistrations(this.#deployment).filter((operation) => {
      const { inputs } = operation;
      const [url = identity.url, type] = [plainText(inputs, "url"), plainText(inputs, "type")];
      if (inputs?.adoptId !== undefined || (type !== "production" && type !== "development")) return false;
      return keyOf({ url, type }) === keyOf(identity);
    });
  }

  /** Returns whether an operation that may have registered this url and type was interrupted, healed or not. */
  hasOperation(key: string): boolean {
    return interruptedRegistrations(this.#deployment).some((operation) => {
      const identity = identityOf(operation);
      return identity === undefined || keyHash(identity) === key;
    });
  }

  /** Returns the id of the endpoint of this name, if exactly one has it. */
  idOf(name: string): string | undefined {
    const named = this.#live.filter(({ urn }) => nameOf(urn) === name);
    return named.length === 1 ? named[0]?.id : undefined;
  }

  /**
   * Returns whether several resources manage one endpoint, also one that is to be deleted. With another key, a resource manages the
   * same one if it has the same url and type.
   */
  isShared(endpoint: Identity & Pick<Endpoint, "id">, { baseUrl, account }: Account): boolean {
    const managing = this.#all.filter((resource) => {
      if (resource.id !== endpoint.id || resource.external === true) return false;
      const { outputs } = resource;
      const isOwn =
        (plainText(outputs, "baseUrl") ?? baseUrl) === baseUrl &&
        (plainText(outputs, "account") ?? account) === account;
      const identity = identityOf(resource);
      return isOwn || identity === undefined || keyOf(identity) === keyOf(endpoint);
    });
    return managing.length > 1;
  }

  /** Returns the provider that has an endpoint, without a name if it is the default one; undefined when the state lacks the id. */
  providerOf(id: string): { readonly name: string | undefined } | undefined {
    const found = this.#live.find((each) => each.id === id);
    return found && { name: providerNameOf(found) };
  }

  /** Returns whether the state keeps the url of an endpoint as a secret. */
  hasSecretUrl(id: string): boolean {
    const found = this.#all.filter((each) => each.id === id);
    return found.some(({ inputs, outputs }) =>
      [inputs?.url, outputs?.url].some((url) => typeof url === "object" && url !== null),
    );
  }

  /** When a run last wrote it, and when the stack began: with its first run, and again after each destroy. */
  get times(): { readonly written: number; readonly created: number } {
    const { manifest, resources = [] } = this.#deployment;
    const root = resources.find(({ type }) => type === "pulumi:pulumi:Stack");
    return { written: Date.parse(manifest?.time ?? ""), created: Date.parse(root?.created ?? "") };
  }

  get #all(): Resource[] {
    return (this.#deployment.resources ?? []).filter(({ type }) => isEndpointType(type));
  }

  get #live(): Resource[] {
    return this.#all.filter((resource) => resource.delete !== true);
  }
}

function isTimed(...times: readonly (string | null)[]): boolean {
  return times.every((time) => !Number.isNaN(parseTimestamp(time)));
}

/** Returns the resource that the state has under the name of an interrupted operation. */
export function livingOf(operation: Resource, { resources = [] }: Deployment): Resource | undefined {
  return resources.find(
    (each) =>
      each.urn === operation.urn &&
      each.delete !== true &&
      each.pendingReplacement !== true &&
      providerNameOf(each) === providerNameOf(operation),
  );
}

/** Returns whether the state has the resource of an interrupted operation as that was to make it. */
export function isHealed(operation: Resource, deployment: Deployment): boolean {
  const live = livingOf(operation, deployment);
  const isSame = (name: string) =>
    JSON.stringify(live?.inputs?.[name]) === JSON.stringify(operation.inputs?.[name]);
  return live !== undefined && ["url", "type", "ip"].every(isSame);
}

/** Runs a command of Pulumi for one stack, and returns what it printed as JSON. */
export type Print = (args: readonly string[]) => Promise<unknown>;

/** Returns what prints a stack, by its name alone: that leaves its organization open. */
export function printerOf({ urn }: StackName, env: NodeJS.ProcessEnv): Print {
  const stack = urn.replace(/^urn:pulumi:/, "").split("::")[0] ?? "";
  return async (args) => {
    const options = { env, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const { exitCode, stdout } = await runPulumi([...args, "--stack", stack], options);
    if (exitCode !== 0) throw new Error(`pulumi ended with ${exitCode}`);
    return JSON.parse(stdout);
  };
}

/** One stack: its state as the CLI prints it, also while a run is under way (engine rule 37), and its history. */
export class Stack {
  #state: Promise<StackState | undefined> | undefined;
  #history: { readonly since: number; readonly runs: Promise<PastRun[] | undefined> } | undefined;

  constructor(
    readonly name: StackName,
    private readonly print: Print,
    /** When this run began, in milliseconds on this machine's clock. */
    readonly startedAt: number,
  ) {}

  /**
   * Returns the state as it was when this was first called. Undefined when the CLI is not on PATH, or cannot read the state, or
   * prints that of another stack with the same name.
   */
  state(): Promise<StackState | undefined> {
    this.#state ??= this.stateNow();
    return this.#state;
  }

  /** Returns the state as it is now. */
  async stateNow(): Promise<StackState | undefined> {
    try {
      const { deployment } = (await this.print(["stack", "export"])) as ExportedStack;
      const isOurs = deployment.resources?.some(({ urn }) => urn === this.name.urn);
      return isOurs ? new StackState(deployment) : undefined;
    } catch {
      return undefined;
    }
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

/** When the interrupted operations of a state were sent, in milliseconds on this machine's clock. */
export interface Interruption {
  /** Before the state was last written, for as long as a creation takes: the engine writes it when an operation begins. */
  readonly certain: Window;
  /** Since the last `up` that recorded everything: a creation may have waited, or an earlier run may have been interrupted too. */
  readonly possible: Window;
}

/** Why nothing dates them, as the end of a sentence. */
export interface Undated {
  readonly doubt: string;
  readonly unwanted?: boolean;
}

/**
 * Dates the interrupted operations of a state, which have no times of their own (engine rule 39). The run that last wrote the state is
 * the interrupted one if it has no entry in the history, because it was killed, or if it is an `up` that failed, because Ctrl-C twice
 * leaves such an entry (engine rule 35).
 *
 * @param longestMs how long a creation takes at most, unless it waits for others
 * @returns `doubt`, as the end of a sentence, when that cannot be told, and `unwanted` when an `up` has succeeded without them
 */
export async function interruptionOf(
  stack: Stack,
  state: StackState,
  longestMs: number,
): Promise<Interruption | Undated> {
  const { written, created } = state.times;
  const runs = await stack.history(Number.isNaN(created) ? 0 : created);
  if (runs === undefined) return { doubt: "the stack's history cannot be read" };
  if (!(written < stack.startedAt)) return { doubt: "nothing tells when the interrupted run ended" };
  const settled = runs.find(isWholeUp);
  // A run that began later has written nothing.
  const last = runs.find(({ start }) => start <= written);
  const isKilled = last === undefined || written >= last.end + HISTORY_PRECISION_MS;
  const isStopped = last?.kind === "update" && !last.succeeded;
  if (!isKilled && !isStopped && last === settled) return { doubt: LATER_UP, unwanted: true };
  if (!isKilled && !isStopped)
    return { doubt: "a later run has written the state, so nothing tells when the interrupted run ended" };
  const from = Math.max(isKilled ? (last?.end ?? created) : last.start, written - longestMs);
  return { certain: { from, until: written }, possible: { from: settled?.end ?? created, until: from } };
}
