import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validateWorkflow } from "@action-validator/core";

const root = join(__dirname, "../..");
const FOLDER = ".github/workflows";

function workflows(): [name: string, text: string][] {
  const own = readdirSync(join(root, FOLDER)).map((name): [string, string] => [
    name,
    readFileSync(join(root, FOLDER, name), "utf8"),
  ]);
  const [, shown = ""] = /```yml\n(.*?)```/s.exec(readFileSync(join(root, "docs/ci.md"), "utf8")) ?? [];
  return [...own, ["docs/ci.md", shown]];
}

test.each(workflows())("%s is a workflow", (_name, text) => {
  expect(text).toContain("jobs:");
  expect(validateWorkflow(text).errors).toEqual([]);
});
