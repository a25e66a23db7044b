import { execFileSync } from "node:child_process";
import { cleanUp, run } from "./commandLine";

afterEach(cleanUp);

/** Returns what bash offers for the last of these words. */
async function completed(...words: string[]): Promise<string[]> {
  const { stdout: script } = await run(["completion", "bash"]);
  const line = `COMP_WORDS=(webhook-endpoints ${words.join(" ")}); COMP_CWORD=${words.length}; _webhook_endpoints; echo "\${COMPREPLY[@]}"`;
  const printed = execFileSync("bash", ["-c", `${script}\n${line}`], { encoding: "utf8" });
  return printed.trim().split(" ");
}

test("bash completes a subcommand and its options", async () => {
  expect(await completed("pr")).toEqual(["prune", "probe"]);
  expect(await completed("prune", "--o")).toEqual(["--older-than"]);
  // Hidden, because no secret belongs there.
  expect(await completed("probe", "--secret")).toEqual(["--secret-env", "--secret-file"]);
});

test("zsh gets the script of bash, and what makes zsh understand it", async () => {
  const { stdout: bash } = await run(["completion", "bash"]);
  const { stdout: zsh } = await run(["completion", "zsh"]);
  expect(zsh).toMatch(/^autoload .*compinit.* bashcompinit\n/);
  expect(zsh.slice(zsh.indexOf("\n") + 1)).toBe(bash);
});

test("fish gets a line for each subcommand and each option", async () => {
  const { stdout } = await run(["completion", "fish"]);
  const lines = stdout.trim().split("\n");
  expect(lines).toContain(
    "complete -c webhook-endpoints -n __fish_use_subcommand -a get -d 'show one endpoint, and the resource that manages it'",
  );
  const fishLine =
    /^complete -c webhook-endpoints -n (__fish_use_subcommand -a [\w-]+|'__fish_seen_subcommand_from [\w-]+' -l [\w-]+) -d '([^'\\]|\\.)*'$/;
  expect(lines.filter((line) => !fishLine.test(line))).toEqual([]);
});

test("another shell is wrong use", async () => {
  const { status, stderr } = await run(["completion", "ksh"]);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/bash, zsh, fish.*\(WRONG_USE\)\n$/)]);
});
