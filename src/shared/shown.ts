const HIDDEN = "(not shown, because it may be a secret)";

/** The characters of a path or a name. JSON has others. */
const NAME = /^[\p{L}\p{N} _.:@/\\~+-]*$/u;
/** A run of base64 as long as a short key. */
const LONG_RUN = /[\w+/-]{24,}=*/g;
/** What tells a key from words: a digit, or both cases. */
const IRREGULAR = /\d|[a-z].*[A-Z]|[A-Z].*[a-z]/;

/** Returns a name or path that a program passed, for a message, unless it may be a secret passed in its place. */
export function shown(name: string): string {
  // The folders of a path are judged one by one; but base64 may contain "/", and never contains a dot.
  const parts = name.includes(".") ? name.split("/") : [name];
  const isPlain = NAME.test(name) && parts.every((part) => masked(part) === part);
  return isPlain ? name : HIDDEN;
}

/** Masks everything that may be a secret in a line that another program printed. */
export function masked(line: string): string {
  return line
    .replace(/\{.*/s, "{…")
    .replace(/whsec_[^\s"'`]*/gi, "whsec_…")
    .replace(/:\/\/\S*@/g, "://…@")
    .replace(/(:\/\/[^\s?]*\?)[^\s"'`]*/g, "$1…")
    .replace(LONG_RUN, (run) => (IRREGULAR.test(run) ? "…" : run));
}
