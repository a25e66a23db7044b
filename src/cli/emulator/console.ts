import type { Emulator, LoggedAttempt } from "../../emulator";
import { ENDPOINT_TYPES } from "../../emulator/endpoint";
import { printable } from "../printable";

/** How much of an unknown line is repeated, in characters. */
const SHOWN_LINE_LENGTH = 40;

export const LINES_HELP = `  Enter   run a job and deliver its events to every endpoint
  rotate  add a signing secret; the old ones keep signing until you type finish
  finish  drop the old signing secrets
  help    show this list
  Ctrl-C  stop the emulator`;

/** Returns a function that obeys a line of input and returns what to print. */
export function lineHandler(emulator: Emulator): (line: string) => string {
  const commands = new Map<string, () => string>([
    ["", () => runJob(emulator)],
    ["rotate", () => `The emulator now also signs with ${emulator.rotateSecret().secret}`],
    ["finish", () => finishRotation(emulator)],
    ["help", () => LINES_HELP],
  ]);
  return (line) => {
    const word = line.trim();
    const command = commands.get(word);
    if (command !== undefined) return command();
    return `Unknown command ${JSON.stringify(word.slice(0, SHOWN_LINE_LENGTH))}. The commands are:\n${LINES_HELP}`;
  };
}

/** Returns a function that returns a line for each attempt that was logged since its last call. */
export function newAttempts(emulator: Emulator): () => string[] {
  let last: LoggedAttempt | undefined;
  return () => {
    const { deliveries } = emulator;
    // From the end, where the last one is; -1 when the log was cleared.
    const seen = last === undefined ? -1 : deliveries.lastIndexOf(last);
    last = deliveries.at(-1);
    return deliveries.slice(seen + 1).map(describeAttempt);
  };
}

function runJob(emulator: Emulator): string {
  void emulator.runJob();
  if (emulator.endpoints().length === 0) return "There is nothing to deliver to: no endpoint is registered.";
  return "Running a job.";
}

/** Works without a rotation of this run too: a data file can hold one that was not finished. */
function finishRotation(emulator: Emulator): string {
  for (const type of ENDPOINT_TYPES) {
    const [secret = ""] = emulator.secrets(type);
    emulator.rotateSecret({ secret, type }).finish();
  }
  const newest = new Set(ENDPOINT_TYPES.flatMap((type) => emulator.secrets(type)));
  return `The emulator now signs only with ${[...newest].join(", ")}`;
}

function describeAttempt({ type, endpointId, url, statusCode, error, retryInMs }: LoggedAttempt): string {
  const again = retryInMs === null ? "" : `, next attempt in ${Math.ceil(retryInMs / 1000)} s`;
  return printable(`${type} to ${endpointId} (${url}): ${statusCode ?? error ?? "no answer"}${again}`);
}
