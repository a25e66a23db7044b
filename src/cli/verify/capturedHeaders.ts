/** A header's name and value. One that was sent twice is there twice. */
export type HeaderPair = readonly [name: string, value: string];

/** `name: value`, perhaps quoted, as a program prints an object. */
const LINE = /^(["']?)([\w!#$%&'*+.^`|~-]+?)\1\s*:\s*(.*)$/;

/**
 * Reads captured headers: lines of `name: value`, as a log, `curl -i` or `curl -v` prints them, or a JSON object. Lines that are
 * no headers, such as a status line, are skipped. A blank line after the headers ends them.
 */
export function readCapturedHeaders(text: string): HeaderPair[] {
  const content = text.replace(/^\uFEFF/, "").trim();
  return content.startsWith("{") || content.startsWith("[")
    ? (jsonHeaders(content) ?? lineHeaders(content))
    : lineHeaders(content);
}

function lineHeaders(content: string): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (const line of content.split(/\r?\n/)) {
    // `curl -v` marks what it sent with ">", what it received with "<", and its own notes with "*".
    if (/^[<*]/.test(line)) continue;
    const header = line.replace(/^> ?/, "").trim();
    if (header === "" && pairs.length > 0) break;
    const [, quote, name = "", value = ""] = LINE.exec(header) ?? [];
    if (name === "") continue;
    pairs.push([name, quote === "" ? value : unquoted(value)]);
  }
  return pairs;
}

/** Takes the quotes and the comma off a value, as it stands in a printed object. */
function unquoted(value: string): string {
  return value.replace(/,$/, "").replace(/^(["'`])(.*)\1$/, "$2");
}

function jsonHeaders(content: string): HeaderPair[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return pairsOf(parsed);
  // Pairs, or objects with a name and a value, as an HAR file has them.
  return parsed.flatMap((each: unknown) => {
    const { name, value } = Array.isArray(each) ? { name: each[0], value: each[1] } : Object(each);
    return typeof name === "string" ? [[name, String(value)] as const] : [];
  });
}

function pairsOf(record: unknown): HeaderPair[] {
  return Object.entries(Object(record)).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one)] as const),
  );
}
