/** Characters that a terminal may obey instead of showing: controls, formats such as bidirectional overrides, and line separators. */
let unprintable: RegExp | undefined;
/** What the log of a pipeline obeys: `::` where a line begins, of GitHub Actions; `##[` and `##vso[`, also of Azure Pipelines. */
const COMMAND_OF_LOG = /:(?=:)(?<=^\s*:)|#(?=#(?:vso)?\[)/g;
/** The user name and the password of a url. */
const USER_INFO = /(:[\\/]{2,})[^\s\\/?#]*@/g;
/** The longest value of others that a message shows, in characters. */
const LONGEST_VALUE = 200;
/** The longest line that a message has, in characters: longer than any that is made of values of the usual length. */
const LONGEST_LINE = 4_000;

/** Returns a string in one line that neither a terminal nor the log of a pipeline obeys. What may control them is escaped as in JSON. */
export function printable(text: string): string {
  // Made for the first message: a literal makes every start of a program half a millisecond longer, for the tables of Unicode.
  unprintable ??= /[\p{C}\p{Zl}\p{Zp}]/gu;
  return text.replace(unprintable, jsonEscaped).replace(COMMAND_OF_LOG, jsonEscaped);
}

/**
 * Returns what others chose, such as the service, a sender or a colleague, as a message shows it: printable, without the user name and
 * the password of a url, and its beginning only. Every such value in a message passes this.
 */
export function foreign(value: string | number): string {
  return lineOf(String(value), LONGEST_VALUE);
}

/**
 * Returns a line as somebody gets it: what an error, a log and the command print passes this. So a value that was forgotten cannot do
 * more than stand there.
 */
export function messageLine(text: string): string {
  return lineOf(text, LONGEST_LINE);
}

function lineOf(given: string, longest: number): string {
  const text = withoutUserInfo(given);
  const shown = printable(text.slice(0, longest));
  return text.length > longest || shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}

/** Drops the user name and the password of each url in a string. */
export function withoutUserInfo(text: string): string {
  return text.replace(USER_INFO, "$1");
}

/** Writes every character as JSON can. */
export function jsonEscaped(text: string): string {
  return text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
