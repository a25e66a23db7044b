import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What `docs/errors.md` says about a code or a reason, as plain text. */
export interface ErrorEntry {
  readonly code: string;
  /** The parts of the package that it comes from. */
  readonly from: readonly string[];
  readonly meaning: string;
  readonly whatToDo: string;
}

const PAGE = join(__dirname, "../../../docs/errors.md");
const ENTRY = /^### `([\w-]+)`.*\n\nFrom: (.+)\.\n\n(.+)\n\n\*\*What to do:\*\* (.+)$/gm;

/** Reads the entries of the page of errors, which the package contains. */
export function readErrorPage(): ErrorEntry[] {
  return [...readFileSync(PAGE, "utf8").matchAll(ENTRY)].map(
    ([, code = "", from = "", meaning = "", whatToDo = ""]) => ({
      code,
      from: from.split(", "),
      meaning: withoutLinks(meaning),
      whatToDo: withoutLinks(whatToDo),
    }),
  );
}

/** Writes each link as its text and the file that it leads to. */
function withoutLinks(markdown: string): string {
  return markdown
    .replace(/\[([^\]]+)\]\(([^)#]+)[^)]*\)/g, "$1 (docs/$2)")
    .replace(/\[([^\]]+)\]\(#[^)]*\)/g, "$1");
}
