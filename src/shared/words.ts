/** Returns a number with its noun, such as "2 endpoints". */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Quotes a value for a shell, if it needs that. */
export function quoted(value: string): string {
  return /^[\w+/=.:-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/** Drops the interrupted creations of a stack. In a terminal, Pulumi would ask about each without `--non-interactive`. */
export const CLEAR_OPERATIONS = "pulumi refresh --clear-pending-creates --yes --non-interactive";

export const PROGRAM = "pulumi-webhook-endpoints";
/** What a shell runs the command of this package with. */
export const COMMAND = `npx ${PROGRAM}`;

/** Returns a command line of this package for an endpoint, in backquotes. */
export function commandLine(subcommand: "get" | "delete", id: string, flags = ""): string {
  return `\`${COMMAND} ${subcommand} ${quoted(id)}${flags}\``;
}
