/**
 * What standard output has of the one JSON value that `--json` promises. A process runs one command, so this is the state of the
 * process.
 */
export const jsonResult: {
  /** Undefined until the options are parsed. */
  isWanted: boolean | undefined;
  isPrinted: boolean;
} = { isWanted: undefined, isPrinted: false };
