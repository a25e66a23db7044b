import { readJsonText, writeJsonText } from "../../shared/jsonText";

/** Longer JSON is shown as it is, in characters. */
const LONGEST = 64 * 1024;
/** Deeper levels would make the page many times longer than what it shows. */
const STYLE = { comma: ",", colon: ": ", indent: "  ", deepestIndent: 20 };

/**
 * Indents a JSON object or array. Returns undefined for anything else, and for JSON that is too long or nested too deeply. Strings,
 * numbers and repeated names keep their spelling, which `JSON.parse` would change: what is signed is the spelling.
 */
export function prettyJson(text: string): string | undefined {
  if (text.length > LONGEST || !/^\s*[{[]/.test(text)) return undefined;
  const json = readJsonText(text);
  return json && writeJsonText(json, STYLE);
}
