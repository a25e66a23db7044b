// What messages, warnings and output hide, and how they show that something is hidden.

const HIDDEN = "…";
const HIDDEN_NAME = "(not shown, because it may be a secret)";

/** A signing secret, also with the characters that escape a part of it. */
const SIGNING_SECRET = /whsec_[\w+/=%&#;\\-]+/gi;
/** A shorter match may be a placeholder, or show the first characters only. In characters. */
const SHORTEST_SIGNING_SECRET = 14;
/** The characters of a path or a name. JSON has others. */
const NAME = /^[\p{L}\p{N} _.:@/\\~+-]*$/u;
/** A run of base64 as long as a short key. A program on Windows may have turned its slashes. */
const LONG_RUN = /[\w+/\\-]{24,}=*/g;
/** A longer line is cut before it is looked at, so that nobody's long line takes long. In characters. */
const LONGEST_LINE = 4_000;

/** Returns whether a string has a signing secret. */
export function hasSigningSecret(text: string): boolean {
  return (text.match(SIGNING_SECRET) ?? []).some(({ length }) => length >= SHORTEST_SIGNING_SECRET);
}

/** Returns how others may spell a key or a signing secret: as it is, without `whsec_`, in a URL, in JSON, and in base64. */
export function spellingsOf(secret: string): string[] {
  const digits = secret.replace(/^whsec_/, "");
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  return [secret, digits, encodeURIComponent(digits), JSON.stringify(digits).slice(1, -1), base64];
}

/** Hides these values, and everything that is spelled as a signing secret. */
export function hide(text: string, values: Iterable<string> = []): string {
  let rest = text;
  for (const value of values) rest = rest.replaceAll(value, HIDDEN);
  return rest.replace(SIGNING_SECRET, `whsec_${HIDDEN}`);
}

/** Hides everything that may be a secret in a line that another program printed. Cuts a very long one. */
export function masked(line: string): string {
  return hide(line.slice(0, LONGEST_LINE))
    .replace(/\{.*/s, "{…")
    .replace(/:\/\/\S*@/g, "://…@")
    .replace(/(:\/\/[^\s?]*\?)[^\s"'`]*/g, "$1…")
    .replace(LONG_RUN, (run) => (isIrregular(run) ? HIDDEN : run));
}

/** Returns what tells a key from words: whether it has a digit, or both cases. */
function isIrregular(run: string): boolean {
  return /\d/.test(run) || (/[a-z]/.test(run) && /[A-Z]/.test(run));
}

/** Returns a name or path that a program passed, for a message, unless it may be a secret passed in its place. */
export function shown(name: string): string {
  // The folders of a file's path are judged one by one; but base64 may contain "/", and never ends like ".json".
  const parts = /\.\w+$/.test(name) ? name.split(/[/\\]/) : [name];
  const isPlain = NAME.test(name) && parts.every((part) => masked(part) === part);
  return isPlain ? name : HIDDEN_NAME;
}
