import { printable, withoutUserInfo } from "./escape";

/** What stands in a command line for a value that nobody should paste. */
const NOT_PASTED = "…";
/** What a shell takes as it is. */
const PLAIN = /^[\w+/=.:-]+$/;
/** What cmd.exe or PowerShell obeys between double quotes. cmd.exe knows no others. */
const OBEYED_ON_WINDOWS = /["“”„%!$`]|\\$/;

/** A longer value is in no command line, in characters. */
const LONGEST_PASTED = 1_000;

/** Quotes a value for a shell of this platform, if it needs that. Returns "…" for one that no command line should have. */
export function quoted(value: string, platform: NodeJS.Platform = process.platform): string {
  const isOption = value.startsWith("-");
  if (isOption || value.length > LONGEST_PASTED || printable(withoutUserInfo(value)) !== value)
    return NOT_PASTED;
  if (PLAIN.test(value)) return value;
  if (platform !== "win32") return `'${value.replaceAll("'", "'\\''")}'`;
  return OBEYED_ON_WINDOWS.test(value) ? NOT_PASTED : `"${value}"`;
}

/** Drops the interrupted creations of a stack. In a terminal, Pulumi would ask about each without `--non-interactive`. */
export const CLEAR_OPERATIONS = "pulumi refresh --clear-pending-creates --yes --non-interactive";

export const PROGRAM = "pulumi-webhook-endpoints";
/** What a shell runs the command of this package with. */
export const COMMAND = `npx ${PROGRAM}`;

/** An id that a command line or a program's code can have. The service chooses ids, and may choose `--orphans`. */
const PLAIN_ID = /^[\w.:][\w.:-]{0,199}$/;

/** Returns whether an id may stand in what a message advises to run or to write. */
export function isPlainId(id: string): boolean {
  return PLAIN_ID.test(id);
}

/** Returns a command line of this package for endpoints. One with "…" is for an id that must be looked up. */
export function commandFor(
  subcommand: "get" | "delete",
  ids: string | readonly string[],
  flags = "",
): string {
  const shown = [ids].flat().map((id) => (isPlainId(id) ? id : NOT_PASTED));
  return `${COMMAND} ${subcommand} ${shown.join(" ")}${flags}`;
}

/** Returns the same in backquotes. */
export function commandLine(subcommand: "get" | "delete", id: string, flags = ""): string {
  const line = `\`${commandFor(subcommand, id, flags)}\``;
  return isPlainId(id) ? line : `${line} (\`list\` shows its id)`;
}
