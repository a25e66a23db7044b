import { type HeaderPair, headerName, isOurHeader, pairsInTurn } from "./headerPair";

/** What may stand before a name in a dump of variables, and the name itself, perhaps quoted. */
const NAME = String.raw`(?:declare -x |export )?[[($]{0,2}(["']?)([\w!#$%&'*+.^${"`"}|~-]+?)\1\]?`;
/** `name: value`, as in a request, or in an object that a program printed. */
const LINE = new RegExp(String.raw`^${NAME}\s*:\s*(.*)$`);
/** `name=value` or `name => value`, as PHP, Ruby, Elixir and a shell print variables. */
const ASSIGNMENT = new RegExp(String.raw`^${NAME}\s*=(?:(>)\s*)?(.*)$`);
/**
 * A string that a program printed, with nothing but the end of its place in a list after it. It ends at the next quote of its kind that
 * is not escaped, and none begins at an escaped quote: no part of a long text is then read twice for one kind of quote.
 */
const PRINTED_STRING = /(?<!\\)(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1(?=\s*[,)\]}])/g;
/** What is left of a list without its strings: names and values in turn, or pairs, perhaps of bytes and in a class of Python. */
const LIST_OF_STRINGS = /^(\w+\()?\[(,|[([{]b?,b?[)\]}])+\]\)?$/;
/** Bounds what is looked at as a list, in characters. */
const LONGEST_LIST = 256 * 1024;
/** A list that PHP printed as the value of a header, and one of its items. */
const PHP_LIST = /=>\s*(?:array\(\d+\) \{|Array\s*\()([\s\S]*?)\n\s*[})]\s*/g;
const PHP_ITEM = /\[\d+\]\s*=>\s*(?:string\(\d+\) )?"?(.*?)"?$/gm;
/** Any other `name=value` is a variable of a shell. */
const ASSIGNED = /^(HTTP_|CONTENT_|webhook-|content-)/i;
/** Where a name of ours begins, and what follows one. */
const OUR_NAME = /(?<![\w-])(?=(?:HTTP_)?webhook[-_](?:id|timestamp|signature)(?![\w-]))/i;
const NAMED_VALUE =
  /^((?:HTTP_)?webhook[-_]\w+)["'`]?\s{0,9}(?:=>|[:=])\s{0,9}(?:(?:\[\]string\{|\[)?(["'`])([^\n]*?)\2|\[([^\]\n]*)|(.*))/i;
/** A name and a value in a list, behind something else on its line. */
const LISTED_VALUE = /^(webhook-\w+)["'`]\s{0,9},\s{0,9}b?(["'`])([^\n]*?)\2/i;
/** What follows a value without quotes in an object: the next member, or the ends of a string, an object and a line of a shell. */
const AFTER_VALUE = /(,\s+[\w-]+[=:].*|[\s,;"'})\]\\]{1,9})$/;

/**
 * Reads the headers at the start of a string: lines of `name: value`, as a log, `curl -i` or `curl -v` prints them, an object or a list
 * that a program printed, or CGI variables. Lines that are no headers, such as a status line, are skipped. A line that is indented
 * continues the one before (RFC 9110, section 5.5), and so does one after a name alone, as browsers copy headers. A blank line after
 * the headers ends them.
 */
export function lineHeaders(text: string): HeaderPair[] {
  return headersIn(text).map((each) => (isOurHeader(each) ? [each[0], unescaped(each[1])] : each));
}

/** Undoes what JSON writes within a string in place of a character that a header of ours may have: `\/`, and `\u003d`. */
function unescaped(value: string): string {
  return value
    .replaceAll("\\/", "/")
    .replace(/\\u00([2-7][\da-f])/gi, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

function headersIn(text: string): HeaderPair[] {
  const headers = listedHeaders(text) ?? headersOnLines(text);
  // A value with another of our names is the rest of an object on one line.
  if (headers.some(isOurHeader) && !headers.some((each) => isOurHeader(each) && OUR_NAME.test(each[1])))
    return headers;
  const within = headersWithin(text);
  // Fewer may be fields of a body, such as the `webhook_id` of another service.
  return within.length >= 3 ? within : headers;
}

/** Reads the headers of ours that stand within lines: behind the time of a log, or in an object that a program printed there. */
function headersWithin(text: string): HeaderPair[] {
  return text.split(OUR_NAME).flatMap((part) => {
    const [, name, , quoted, listed, rest = ""] = NAMED_VALUE.exec(part) ?? LISTED_VALUE.exec(part) ?? [];
    const value = quoted ?? listed ?? rest.trim().replace(AFTER_VALUE, "");
    return name === undefined ? [] : [[headerName(name), value] as const];
  });
}

/** Reads a list such as `rawHeaders`, or one of pairs, as Node.js, Python and Elixir print it. Returns undefined for anything else. */
function listedHeaders(text: string): HeaderPair[] | undefined {
  if (text.length > LONGEST_LIST || !/^\s*(\w+\()?\[/.test(text)) return undefined;
  if (!LIST_OF_STRINGS.test(text.replace(PRINTED_STRING, "").replace(/\s+/g, ""))) return undefined;
  return pairsInTurn([...text.matchAll(PRINTED_STRING)].map(([, , string = ""]) => string));
}

function headersOnLines(text: string): HeaderPair[] {
  const pairs: { readonly name: string; value: string }[] = [];
  for (const line of linesOf(text)) {
    // `curl -v` marks what it sent with ">", what it received with "<", and its own notes with "*".
    if (/^[<*]/.test(line)) continue;
    const content = line.replace(/^> ?/, "");
    if (content.trim() === "" && pairs.length > 0) break;
    const header = headerOf(content.trim()) ?? ourNameAlone(content.trim());
    const last = pairs.at(-1);
    if (header !== undefined) pairs.push(header);
    else if (last !== undefined && (/^[ \t]/.test(content) || last.value === ""))
      last.value = `${last.value} ${content.trim()}`.trim();
  }
  return pairs.flatMap(({ name, value }) => valuesOf(value).map((one) => [headerName(name), one] as const));
}

/** A value may follow on the next line. Of a line without a colon, only a name of ours tells that. */
function ourNameAlone(line: string): { name: string; value: string } | undefined {
  return isOurHeader([line, ""]) ? { name: line, value: "" } : undefined;
}

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "[": "]", "(": ")" };

/** Splits a string into lines. An object on one line, such as that of Python or Ruby, has one line for each member then. */
function linesOf(printed: string): string[] {
  const text = printed.replace(
    PHP_LIST,
    (_all, items: string) =>
      `=> [${Array.from(items.matchAll(PHP_ITEM), ([, item]) => `"${item}"`).join(", ")}]\n`,
  );
  const content = text.trim().replace(/^\w+\((?=\{.*\}\)$)/s, "(");
  const [opening = ""] = /^[{[%(]+/.exec(content) ?? [];
  // The time of a log may be in brackets, and an object behind it.
  if (opening === "" || !content.endsWith(CLOSING[opening.at(-1) ?? ""] ?? "")) return text.split(/\r?\n/);
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
