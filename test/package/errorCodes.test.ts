import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { ADVICE } from "../../src/cli/commands/verify/advice";
import { read, root } from "./pages";

/** The types whose strings are codes or reasons. */
const TYPES = /ErrorCode$|^(FindingCode|VerificationFailure|Refusal|OutcomeKind)$/;
/** The outcomes that need no explanation: nothing failed. */
const FINE = ["handled", "unhandled", "duplicate", "validation", "queued"];
/** A reason and an outcome of workers, which no type names. */
const NAMELESS = ["no-secrets", "not-a-delivery"];

/** Returns the codes that a source file declares: the strings of these types, or of `CodedError<"…">`. */
function codesIn(path: string): string[] {
  const found: string[] = [];
  const collect = (node: ts.Node): void => {
    // `Extract` takes a code from the union that declares it.
    if (ts.isTypeReferenceNode(node) && node.typeName.getText() === "Extract") return;
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

/** The codes in the first cells of the tables below a heading of a page. */
function codesBelow(page: string, heading: string): string[] {
  const rows = (read(`docs/${page}`).split(`\n${heading}\n`)[1] ?? "").split("\n");
  return rows.flatMap((row) => row.split("|")[1]?.match(/(?<=`)[\w-]+(?=`)/g) ?? []);
}

/** Those of the emulator and of `verify` stand with their pages. */
const codes = [
  ...codesBelow("errors.md", "## Pulumi"),
  ...codesBelow("emulator.md", "### Errors").filter((code) => /^EMULATOR_/.test(code)),
  ...codesBelow("command.md", "### Causes").filter((code) => /^[a-z0-9-]+$/.test(code)),
];

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
const declared = sources.filter((name) => name.endsWith(".ts")).flatMap((name) => codesIn(join("src", name)));

/** `shared` may import nobody, and `validation` no `client`. A body that was parsed is found by the verifier, or by an adapter before it. */
const TWICE = ["INVALID_OPTION", "ABORTED", "parsed-body"];

test("each code, reason and finding is declared in one place of the sources", () => {
  const repeated = declared.filter((code, index) => declared.indexOf(code) < index);
  expect(repeated.sort()).toEqual([...TWICE].sort());
});

test("the pages explain exactly the codes, reasons and findings that the sources declare, each once", () => {
  const explained = [...declared.filter((code) => !FINE.includes(code)), ...NAMELESS, ...Object.keys(ADVICE)];
  expect([...codes].sort()).toEqual([...new Set(explained)].sort());
});
