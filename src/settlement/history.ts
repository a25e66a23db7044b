/** How many runs of a stack's history are read at once. */
const PAGE_SIZE = 50;
/** How far back it is read at most, in pages. */
const MAX_PAGES = 40;
/** The resolution of the history's times, in milliseconds. */
export const HISTORY_PRECISION_MS = 1_000;
/** What a run's environment holds if it left resources out. The engine's name of an option that a variable sets is that of the variable. */
const PARTIAL = /^pulumi\.(flag\.|env\.PULUMI_OPTION_)(target|exclude|target[-_]replace)$/i;

/** An entry as the CLI prints it. */
interface HistoryEntry {
  readonly kind?: string;
  readonly result?: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A run in a stack's history, with its times on this machine's clock in milliseconds. */
export interface PastRun {
  readonly start: number;
  readonly end: number;
  readonly kind: string | undefined;
  readonly succeeded: boolean;
  /** True if `--target` or `--exclude`, as an option or as a variable, left resources out. */
  readonly isPartial: boolean;
}

/** Runs a command of Pulumi for one stack, and returns what it printed as JSON. */
export type Print = (args: readonly string[]) => Promise<unknown>;

/**
 * Reads a stack's history, the last run first, back to the last run that had ended before a moment.
 *
 * @returns undefined if it goes too far back, or an entry has no readable time
 */
export async function readHistory(print: Print, since: number): Promise<PastRun[] | undefined> {
  const runs: PastRun[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const args = `stack history --json --page-size ${PAGE_SIZE} --page ${page}`.split(" ");
    const entries = (await print(args)) as HistoryEntry[];
    runs.push(...entries.filter(({ result }) => result === "succeeded" || result === "failed").map(pastRun));
    if (runs.some(({ start, end }) => Number.isNaN(start + end))) return undefined;
    if (entries.length < PAGE_SIZE || runs.some(({ end }) => end + HISTORY_PRECISION_MS < since)) return runs;
  }
  // Nobody looks further back than to the last `up` that recorded everything.
  return runs.some(isWholeUp) ? runs : undefined;
}

function pastRun({ kind, result, startTime, endTime, environment = {} }: HistoryEntry): PastRun {
  return {
    kind,
    succeeded: result === "succeeded",
    start: Date.parse(startTime ?? ""),
    end: Date.parse(endTime ?? ""),
    isPartial: Object.keys(environment).some((name) => PARTIAL.test(name)),
  };
}

/** Returns whether a run registered and recorded everything that the program declared. */
export function isWholeUp({ kind, succeeded, isPartial }: PastRun): boolean {
  return kind === "update" && succeeded && !isPartial;
}

/** Returns whether a run began after a moment, or in its second: the history cuts its times off. */
export function mayHaveBegunAfter({ start }: PastRun, at: number): boolean {
  return start + HISTORY_PRECISION_MS > at;
}

/**
 * Returns whether a run was under way at a moment. The history's times are whole seconds, cut off: a run that was killed in the second
 * before is not taken for this one.
 */
export function wasUnderWay({ start, end }: PastRun, at: number): boolean {
  return at >= start && at <= end + HISTORY_PRECISION_MS;
}
