import { readdirSync } from "node:fs";
import { join } from "node:path";
import { validateWorkflow } from "@action-validator/core";
import { read, root } from "./pages";

const FOLDER = ".github/workflows";
/** Somebody who moves a tag of an action can't change what runs here. */
const PINNED = /^(?:\.\/\.github\/workflows\/\w+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;

const own = readdirSync(join(root, FOLDER)).map((name): [string, string] => [name, read(join(FOLDER, name))]);
const [, shown = ""] = /```yml\n(.*?)```/s.exec(read("docs/ci.md")) ?? [];

test.each([...own, ["docs/ci.md", shown]])("%s is a workflow", (_name, text) => {
  expect(text).toContain("jobs:");
  expect(validateWorkflow(text).errors).toEqual([]);
});

test.each(own)("%s pins each action by its commit, and says which version that is", (_name, text) => {
  const used = [...text.matchAll(/uses: (.*)/g)].map(([, action = ""]) => action);
  expect(used.length).toBeGreaterThan(1);
  expect(used.filter((action) => !PINNED.test(action))).toEqual([]);
});
