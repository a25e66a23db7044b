import { type HeaderPair, headerName } from "./headerPair";

/** What may stand before a name in a dump of variables, and the name itself, perhaps quoted. */
const NAME = String.raw`(?:declare -x |export )?[[($]{0,2}(["']?)([\w!#$%&'*+.^${"`"}|~-]+?)\1\]?`;
/** `name: value`, as in a request, or in an object that a program printed. */
const LINE = new RegExp(String.raw`^${NAME}\s*:\s*(.*)$`);
/** `name=value` or `name => value`, as PHP, Ruby, Elixir and a shell print variables. */
const ASSIGNMENT = new RegExp(String.raw`^${NAME}\s*=>?\s*(.*)$`);
const ASSIGNED = /^(HTTP_|CONTENT_|webhook-|content-)/i;

/**
 * Reads the headers at the start of a text: lines of `name: value`, as a log, `curl -i` or `curl -v` prints them, an object that a
 * program printed, or CGI variables. Lines that are no headers, such as a status line, are skipped. A line that is indented
 * continues the one before (RFC 9110, section 5.5). A blank line after the headers ends them.
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
    else if (/^[ \t]/.test(content) && last !== undefined)
      last.value = `${last.value} ${content.trim()}`.trim();
  }
  return pairs.map(({ name, value }) => [headerName(name), unquoted(value)]);
}

/** Splits a text into lines. An object on one line, such as that of Python or Ruby, has one line for each member then. */
function linesOf(text: string): string[] {
  const content = text.trim();
  if (!/^[{[%(].*[}\])]$/.test(content)) return text.split(/\r?\n/);
  return content.replace(/^[{[%(]+|[}\])]+$/g, "").split(/,\s*(?=["'])/);
}

function headerOf(line: string): { name: string; value: string } | undefined {
  const [, , name = "", value = ""] = LINE.exec(line) ?? assignment(line) ?? [];
  return name === "" ? undefined : { name, value };
}

function assignment(line: string): RegExpExecArray | null {
  const found = ASSIGNMENT.exec(line);
  return ASSIGNED.test(found?.[2] ?? "") ? found : null;
}

/** Takes the quotes and the comma off a value, as it stands in a printed object. */
function unquoted(value: string): string {
  const [, , inner] = /^(["'`])(.*)\1,?$/.exec(value.trim()) ?? [];
  return inner ?? value.trim();
}
