import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(__dirname, "../..");

/** What reads like a code, and is none: settings and variables of the environment. */
const noCode = /^WEBHOOK(S_|_RECEIVER$)/;

function codesOf(text: string, quote: string): string[] {
  return [
    ...text.matchAll(
      new RegExp(
        `${quote}([A-Z]+(?:_[A-Z]+)+)${quote}|${quote}(REJECTED|REDIRECTED|UNREACHABLE|UNAUTHORIZED)${quote}`,
        "g",
      ),
    ),
  ]
    .map(([, words = "", word = ""]) => words || word)
    .filter((code) => !noCode.test(code));
}

it("every error code is in the README, which names no other", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, "src", name), "utf8"));
  const inCode = new Set(codesOf(sources.join("\n"), '"').filter((code) => !code.startsWith("EMULATOR_")));
  const table = readFileSync(join(root, "README.md"), "utf8").match(/^\| `[A-Z].*$/gm) ?? [];
  const inReadme = new Set(table.flatMap((row) => codesOf(row.split(" | ")[0] ?? "", "`")));
  expect([...inReadme].sort()).toEqual([...inCode].sort());
});
