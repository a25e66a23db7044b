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

test.each(own)(
  "in %s, a job that may write or sign runs no code of the repository or of its packages",
  (_name, text) => {
    const [, ...jobs] = (text.split("\njobs:\n")[1] ?? "").split(/^ {2}(?=\w+:\n)/m);
    expect(jobs.length).toBeGreaterThan(1);
    // One that calls a workflow runs nothing itself.
    for (const job of jobs.filter((each) => /^ {6}\S+: write$/m.test(each) && !/^ {4}uses: /m.test(each))) {
      expect(job).toMatch(/^ {4}environment:/m);
      expect(job).not.toContain("actions/checkout");
      for (const [, run] of job.matchAll(/run: (.*)/g))
        expect(run).not.toMatch(
          /\bnode\b|\bnpx\b|^\||\bnpm (?!publish .* --ignore-scripts$|install --global npm@)/,
        );
    }
    expect(text).toMatch(/^permissions:/m);
  },
);
