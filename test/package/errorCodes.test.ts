import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { read, readErrorPage, root } from "./pages";

/** The types whose strings are codes or reasons. */
const TYPES = /ErrorCode$|^(FindingCode|VerifyCause|BodyCause|VerificationFailure|Refusal|OutcomeKind)$/;
/** The outcomes that need no explanation: nothing failed. */
const FINE = ["handled", "unhandled", "duplicate", "validation", "queued"];
/** The reason that no type has a name for. */
const NO_SECRETS = "no-secrets";

/** Returns the codes that a source file declares: the strings of these types, or of `CodedError<"…">`. */
function codesIn(path: string): string[] {
  const found: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) found.push(node.text);
    ts.forEachChild(node, collect);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeAliasDeclaration(node) && TYPES.test(node.name.text)) collect(node.type);
    else if (ts.isExpressionWithTypeArguments(node) && node.expression.getText() === "CodedError")
      node.typeArguments?.forEach(collect);
    else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true));
  return found;
}

const page = read("docs/errors.md");
const entries = readErrorPage();
const codes = entries.map(({ code }) => code);

test("the page of errors has an entry for exactly the codes, reasons and findings that the sources declare", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const declared = sources.flatMap((name) => codesIn(join("src", name)));
  expect(declared.length).toBeGreaterThan(100);
  const explained = declared.filter((code) => !FINE.includes(code));
  expect(new Set(codes)).toEqual(new Set([...explained, NO_SECRETS]));
  expect(codes).toHaveLength(new Set(codes).size);
});

test("every heading of the page below A to Z is an entry with its sources, a meaning and what to do", () => {
  const headings = page.split("\n## A to Z\n")[1]?.match(/^### /gm) ?? [];
  expect(entries).toHaveLength(headings.length);
});

test("the entries of the page of errors are in alphabetical order", () => {
  const plain = (code: string) => code.toLowerCase().replace(/[-_]/g, " ");
  const sorted = [...codes].sort((a, b) => (plain(a) < plain(b) ? -1 : plain(a) > plain(b) ? 1 : 0));
  expect(codes).toEqual(sorted);
});

test("the table of sources lists each code where its entry says that it comes from", () => {
  const rows =
    page
      .split("\n## Which codes come from where\n")[1]
      ?.split("\n## ")[0]
      ?.match(/^\| .*`\].*$/gm) ?? [];
  const listed = rows.map((row) => [...row.matchAll(/\[`([\w-]+)`\]\(#/g)].map(([, code]) => code));
  const sources = [...new Set(entries.flatMap(({ from }) => from))];
  const expected = sources.map((source) =>
    entries.filter(({ from }) => from.includes(source)).map(({ code }) => code),
  );
  expect(new Set(listed.map(String))).toEqual(new Set(expected.map(String)));
});
