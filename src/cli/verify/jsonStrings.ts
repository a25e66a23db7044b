/** Returns the spelling of a JSON string. */
type StringSpelling = (text: string) => string;

interface Escapes {
  /** What is escaped as `\uXXXX`, beside what JSON requires: the inside of a character class. */
  readonly escaped: string;
  /** Whether the digits of `\uXXXX` are in upper case. */
  readonly isUpper?: boolean;
  /** Whether `/` is written as `\/`. */
  readonly slash?: boolean;
  /** Whether `"` is written as `\u0022`. */
  readonly quote?: boolean;
}

const TIME = /^"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00:00)"$/;
const NON_ASCII = "\\u0080-\\uffff";

/** How libraries write strings, the most likely first. Each completes "JSON …". */
export const STRING_SPELLINGS: readonly (readonly [description: string, spelling: StringSpelling])[] = [
  ["", (text) => text],
  ["", (text) => JSON.stringify(JSON.parse(text))],
  // Python's json.dumps, which escapes DEL too.
  [" with escaped non-ASCII characters", spell({ escaped: "\\u007f-\\uffff" })],
  [
    " with escaped slashes and non-ASCII characters, as PHP writes it",
    spell({ escaped: NON_ASCII, slash: true }),
  ],
  [" with escaped slashes", spell({ escaped: "", slash: true })],
  [
    " with escaped slashes, as PHP's JSON_UNESCAPED_UNICODE writes it",
    spell({ escaped: "\\u2028\\u2029", slash: true }),
  ],
  [" with escaped <, > and &", spell({ escaped: "<>&\\u2028\\u2029" })],
  [
    " with the escapes of .NET (System.Text.Json)",
    spell({ escaped: "<>&'+`\\u007f-\\uffff", isUpper: true, quote: true }),
  ],
  [
    " with the escapes of Newtonsoft.Json's EscapeHtml",
    spell({ escaped: "<>&'\\u0085\\u2028\\u2029", quote: true }),
  ],
  [" with escaped non-ASCII characters in upper case", spell({ escaped: NON_ASCII, isUpper: true })],
  [" with the escapes of Gson", spell({ escaped: "<>&='\\u2028\\u2029" })],
  [
    " with the escapes of PHP's JSON_HEX flags",
    spell({ escaped: "<>&'\\u0080-\\uffff", slash: true, quote: true, isUpper: true }),
  ],
  // Newtonsoft.Json and pydantic parse them, and write them in their own way.
  ...[3, 6, 7, 9, 0].flatMap((digits) =>
    ["Z", "+00:00"].map((zone) => [" with times written in another way", timesWith(digits, zone)] as const),
  ),
];

/** @param digits of the fraction; 0: without zeros at its end */
function timesWith(digits: number, zone: string): StringSpelling {
  return (text) => {
    const [, time, fraction = ""] = TIME.exec(text) ?? [];
    const written = fraction.replace(/0+$/, "").padEnd(digits, "0");
    if (time === undefined || (digits > 0 && written.length > digits)) return text;
    return `"${time}${written === "" ? "" : `.${written}`}${zone}"`;
  };
}

function spell({ escaped, isUpper = false, slash = false, quote = false }: Escapes): StringSpelling {
  const unicode = (character: string) => {
    const digits = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${isUpper ? digits.toUpperCase() : digits}`;
  };
  const changing = new RegExp(`\\\\(?:u[0-9a-f]{4}|.)|[${escaped}${slash ? "/" : ""}]`, "gs");
  return (text) => {
    const inner = JSON.stringify(JSON.parse(text)).slice(1, -1);
    const written = inner.replace(changing, (token) => {
      if (token === '\\"') return quote ? unicode('"') : token;
      if (token.startsWith("\\u")) return isUpper ? `\\u${token.slice(2).toUpperCase()}` : token;
      if (token === "/") return "\\/";
      return token.startsWith("\\") ? token : unicode(token);
    });
    return `"${written}"`;
  };
}
