import { runPulumi } from "../../pulumiCommand";

/** How many runs of the history are read. */
export const HISTORY_LENGTH = 20;
/** How long the CLI may take to print something of a stack, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** A run in a stack's history, with its times on this machine's clock in milliseconds. Only an `up` registers anything. */
export interface PastRun {
  readonly kind: string | undefined;
  readonly succeeded: boolean;
  readonly start: number;
  readonly end: number;
}

/** An entry as `pulumi stack history --json` prints it. */
interface HistoryEntry {
  readonly kind?: string;
  readonly result?: string;
  readonly startTime?: string;
  readonly endTime?: string;
}

/** The resolution of the history's times, in milliseconds. */
const PRECISION_MS = 1_000;

/** Reads the last runs of a stack that have ended, the last one first. Returns undefined when the CLI cannot read them. */
export async function readHistory(
  rootUrn: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly PastRun[] | undefined> {
  try {
    const options = ["history", "--json", "--page-size", String(HISTORY_LENGTH)];
    return ((await printOfStack(rootUrn, environment, options)) as HistoryEntry[]).flatMap(pastRun);
  } catch {
    return undefined;
  }
}

/** Returns what `pulumi stack` prints as JSON of the stack with this URN. The name of a stack leaves its organization open. */
export async function printOfStack(
  rootUrn: string,
  environment: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<unknown> {
  const stack = rootUrn.replace(/^urn:pulumi:/, "").split("::")[0] ?? "";
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const options = { env: environment, signal };
  const { exitCode, stdout } = await runPulumi(["stack", ...args, "--stack", stack], options);
  if (exitCode !== 0) throw new Error(`pulumi ended with ${exitCode}`);
  return JSON.parse(stdout);
}

function pastRun({ kind, result, startTime, endTime }: HistoryEntry): PastRun[] {
  const [start, end] = [Date.parse(startTime ?? ""), Date.parse(endTime ?? "")];
  const isFinished = result === "succeeded" || result === "failed";
  return isFinished && Number.isFinite(start + end)
    ? [{ kind, succeeded: result === "succeeded", start, end }]
    : [];
}

/** Returns whether a run has recorded everything that it registered. */
export function isSuccessfulUp({ kind, succeeded }: PastRun): boolean {
  return kind === "update" && succeeded;
}

/** Returns whether a run was under way at a moment, as far as the history's times are exact. */
export function wasUnderWay({ start, end }: PastRun, at: number): boolean {
  return at >= start - PRECISION_MS && at <= end + PRECISION_MS;
}
