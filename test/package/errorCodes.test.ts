import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { read, root } from "./pages";

/** Returns the codes that a source file declares: the strings of a type `…ErrorCode`, or of `CodedError<"…">`. */
function codesIn(path: string): string[] {
  const found: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) found.push(node.text);
    ts.forEachChild(node, collect);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeAliasDeclaration(node) && node.name.text.endsWith("ErrorCode")) collect(node.type);
    else if (ts.isExpressionWithTypeArguments(node) && node.expression.getText() === "CodedError")
      node.typeArguments?.forEach(collect);
    else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true));
  return found;
}

test("the page of errors lists exactly the codes that the sources declare", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const declared = sources.flatMap((name) => codesIn(join("src", name)));
  expect(declared.length).toBeGreaterThan(30);
  const rows = [...read("docs/errors.md").matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  expect(new Set(rows)).toEqual(new Set(declared));
  expect(rows).toHaveLength(new Set(rows).size);
});
