import { runPulumi } from "../../pulumiCommand";
import { type Deployment, idsInState, isInterruptedRegistration, nameOf, type Resource } from "../deployment";
import { keyOf } from "../identity";
import { TYPE_TOKEN } from "../permanent";
import type { EndpointInputs, EndpointType } from "../types";

/** How long the CLI may take to print the state, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** How many runs of the history are read. */
const HISTORY_LENGTH = 20;
/** The resolution of the history's times, in milliseconds. */
const HISTORY_PRECISION_MS = 1_000;

/** An `up` in the history, with its times on this machine's clock in milliseconds. No other command registers anything. */
interface PastUp {
  readonly succeeded: boolean;
  readonly start: number;
  readonly end: number;
}

/** The stack's state and history as the CLI prints them, also while a run of the stack is under way (engine rule 37). */
export class StackState {
  /** The ids that the state holds. */
  readonly ids: ReadonlySet<string>;
  readonly #deployment: Deployment;
  readonly #ups: readonly PastUp[];

  /** @param history the last run first */
  constructor(deployment: Deployment, history: readonly HistoryEntry[]) {
    this.ids = idsInState(deployment);
    this.#deployment = deployment;
    this.#ups = history.flatMap(pastUp);
  }

  /** Returns whether a run that succeeded was under way at this moment, so that the state held all that it had registered. */
  wasRecorded(at: number): boolean {
    return this.#ups.some(
      ({ succeeded, start, end }) =>
        succeeded && at >= start - HISTORY_PRECISION_MS && at <= end + HISTORY_PRECISION_MS,
    );
  }

  /**
   * No registration that is unfinished now was sent before this moment, unless an `up` that succeeded did not settle it. An
   * `up` that failed may have been ended by Ctrl-C twice, or may not have come to what an earlier one had left.
   */
  get interruptedFrom(): number {
    const settled = this.#ups.find(({ succeeded }) => succeeded);
    if (settled) return settled.end;
    const created = (this.#deployment.resources ?? []).map((resource) => Date.parse(resource.created ?? ""));
    return Math.min(...created.filter(Number.isFinite));
  }

  /**
   * Returns how many unfinished registrations of this url, type and ip the state holds, for resources of this provider that
   * it does not have. None if others differ only in ip: the service does not tell which of them made an endpoint.
   */
  operationsLike(inputs: EndpointInputs, provider: string | undefined): number {
    const { pending_operations: operations = [], resources = [] } = this.#deployment;
    const alike = operations.filter(isInterruptedRegistration).filter(({ resource }) => {
      const { url, type, ip, adoptId } = resource.inputs ?? {};
      if (typeof url !== "string" || !isType(type) || adoptId !== undefined) return false;
      const recorded = resources.find(({ urn, delete: gone }) => urn === resource.urn && gone !== true);
      const isSettled =
        recorded?.inputs?.url === url && recorded.inputs.type === type && recorded.inputs.ip === ip;
      return !isSettled && isOf(resource, provider) && keyOf({ url, type }) === keyOf(inputs);
    });
    return alike.every(({ resource }) => resource.inputs?.ip === inputs.ip) ? alike.length : 0;
  }

  /** Returns the id of the endpoint of this name, if exactly one has it. */
  idOf(name: string): string | undefined {
    const named = (this.#deployment.resources ?? []).filter(
      ({ urn, type, delete: gone }) => type === TYPE_TOKEN && gone !== true && nameOf(urn) === name,
    );
    return named.length === 1 ? named[0]?.id : undefined;
  }
}

/**
 * Reads the state of a stack. Returns undefined when the CLI is not on PATH, or cannot read the state, or prints another
 * stack's: the name of a stack leaves its organization open.
 */
export async function readStackState(
  rootUrn: string,
  environment: NodeJS.ProcessEnv,
): Promise<StackState | undefined> {
  const stack = rootUrn.replace(/^urn:pulumi:/, "").split("::")[0] ?? "";
  const print = async (...args: string[]): Promise<unknown> => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { exitCode, stdout } = await runPulumi([...args, "--stack", stack], { env: environment, signal });
    if (exitCode !== 0) throw new Error(`pulumi ended with ${exitCode}`);
    return JSON.parse(stdout);
  };
  try {
    const [exported, history] = await Promise.all([
      print("stack", "export"),
      print("stack", "history", "--json", "--page-size", String(HISTORY_LENGTH)),
    ]);
    const { deployment } = exported as { deployment: Deployment };
    const isOurs = deployment.resources?.some(({ urn }) => urn === rootUrn);
    return isOurs ? new StackState(deployment, history as HistoryEntry[]) : undefined;
  } catch {
    return undefined;
  }
}

function isType(type: unknown): type is EndpointType {
  return type === "production" || type === "development";
}

/** Returns whether a resource belongs to the provider of this name; undefined is the default provider. */
function isOf({ provider = "" }: Resource, name: string | undefined): boolean {
  const own = nameOf(provider.slice(0, provider.lastIndexOf("::")));
  return name === undefined ? /^default(_[\d_]+)?$/.test(own) : own === name;
}

interface HistoryEntry {
  readonly kind?: string;
  readonly result?: string;
  readonly startTime?: string;
  readonly endTime?: string;
}

function pastUp({ kind, result, startTime, endTime }: HistoryEntry): PastUp[] {
  const [start, end] = [Date.parse(startTime ?? ""), Date.parse(endTime ?? "")];
  const isFinished = result === "succeeded" || result === "failed";
  return kind === "update" && isFinished && Number.isFinite(start + end)
    ? [{ succeeded: result === "succeeded", start, end }]
    : [];
}
