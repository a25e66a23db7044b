import { type HeaderPair, headerName } from "./headerPair";

/** What may stand before a name in a dump of variables, and the name itself, perhaps quoted. */
const NAME = String.raw`(?:declare -x |export )?[[($]{0,2}(["']?)([\w!#$%&'*+.^${"`"}|~-]+?)\1\]?`;
/** `name: value`, as in a request, or in an object that a program printed. */
const LINE = new RegExp(String.raw`^${NAME}\s*:\s*(.*)$`);
/** `name=value` or `name => value`, as PHP, Ruby, Elixir and a shell print variables. */
const ASSIGNMENT = new RegExp(String.raw`^${NAME}\s*=(?:(>)\s*)?(.*)$`);
/** Any other `name=value` is a variable of a shell. */
const ASSIGNED = /^(HTTP_|CONTENT_|webhook-|content-)/i;

/**
 * Reads the headers at the start of a text: lines of `name: value`, as a log, `curl -i` or `curl -v` prints them, an object that a
 * program printed, or CGI variables. Lines that are no headers, such as a status line, are skipped. A line that is indented
 * continues the one before (RFC 9110, section 5.5), and so does one after a name alone, as browsers copy headers. A blank line after
 * the headers ends them.
 */
export function lineHeaders(text: string): HeaderPair[] {
  const pairs: { readonly name: string; value: string }[] = [];
  for (const line of linesOf(text)) {
    // `curl -v` marks what it sent with ">", what it received with "<", and its own notes with "*".
    if (/^[<*]/.test(line)) continue;
    const content = line.replace(/^> ?/, "");
    if (content.trim() === "" && pairs.length > 0) break;
    const header = headerOf(content.trim());
    const last = pairs.at(-1);
    if (header !== undefined) pairs.push(header);
    else if (last !== undefined && (/^[ \t]/.test(content) || last.value === ""))
      last.value = `${last.value} ${content.trim()}`.trim();
  }
  return pairs.flatMap(({ name, value }) => valuesOf(value).map((one) => [headerName(name), one] as const));
}

/** Splits a text into lines. An object on one line, such as that of Python or Ruby, has one line for each member then. */
function linesOf(text: string): string[] {
  const content = text.trim();
  const [opening = ""] = /^[{[%(]+/.exec(content) ?? [];
  if (opening === "" || !/[}\])]$/.test(content)) return text.split(/\r?\n/);
  const members = content.slice(opening.length, -opening.replace("%", "").length);
  return members.split(members.includes("\n") ? /\r?\n/ : /,\s*(?=["'][^"']*["']\s*(?:=>|:))/);
}

function headerOf(line: string): { name: string; value: string } | undefined {
  const [, , name = "", value = ""] = LINE.exec(line) ?? [];
  return name === "" ? assignment(line) : { name, value };
}

function assignment(line: string): { name: string; value: string } | undefined {
  const [, , name = "", arrow, value = ""] = ASSIGNMENT.exec(line) ?? [];
  return arrow !== undefined || ASSIGNED.test(name) ? { name, value } : undefined;
}

/** Returns the values of a header as it stands in a printed object: one, or as many as a list has. PHP puts the length before. */
function valuesOf(printed: string): string[] {
  const value = printed.trim().replace(/^string\(\d+\)\s*/, "");
  const [, list = value] = /^\[\s*(["'`].*["'`])\s*\],?$/.exec(value) ?? [];
  return (list === value ? [value] : list.split(/,\s+(?=["'`])/)).map(unquoted);
}

/** Takes the quotes and the comma off a value. Python breaks a long one into several strings. */
function unquoted(value: string): string {
  const [, quote, inner] = /^(["'`])(.*)\1,?$/.exec(value.trim()) ?? [];
  return inner?.replaceAll(`${quote} ${quote}`, "") ?? value.trim();
}
