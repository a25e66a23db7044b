/** Returns a number with its noun, such as "2 endpoints". */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Quotes a value for a shell, if it needs that. */
export function quoted(value: string): string {
  return /^[\w+/=.:-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/** Returns a command line of this package for an endpoint, in backquotes. */
export function commandLine(subcommand: "get" | "delete", id: string, flags = ""): string {
  return `\`npx pulumi-webhook-endpoints ${subcommand} ${quoted(id)}${flags}\``;
}
