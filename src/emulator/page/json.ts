import { parseJson } from "../../shared/json";

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Longer JSON is shown as it is, in characters. */
const LONGEST = 64 * 1024;
/** Deeper levels are not indented any further. */
const DEEPEST_INDENT = 20;

/**
 * Indents a JSON object or array. Returns undefined for anything else. Strings, numbers and repeated names keep their spelling, which
 * `JSON.parse` would change: what is signed is the spelling.
 */
export function prettyJson(text: string): string | undefined {
  if (text.length > LONGEST || !/^\s*[{[]/.test(text)) return undefined;
  if (parseJson(text) === undefined) return undefined;
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, DEEPEST_INDENT))}`;
  return tokens
    .map((token, index) => {
      if (token === ",") return `,${line()}`;
      if (token === ":") return ": ";
      if (token === "{" || token === "[") {
        depth += 1;
        return isClosing(tokens[index + 1]) ? token : `${token}${line()}`;
      }
      if (!isClosing(token)) return token;
      depth -= 1;
      return /^[{[]$/.test(tokens[index - 1] ?? "") ? token : `${line()}${token}`;
    })
    .join("");
}

function isClosing(token: string | undefined): boolean {
  return token === "}" || token === "]";
}
