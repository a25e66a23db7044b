import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { commandsOf, packedFiles, read, root } from "./pages";

const CLI_COMMANDS =
  /^pulumi (new|package add|plugin install|stack init|up|preview|refresh|destroy|cancel|config (set|rm)|stack (output|export|import|ls|rm|select|--show-urns)|state (delete|move)|import|whoami|env run)\b/;

const { scripts } = JSON.parse(read("package.json"));
const pages = packedFiles().filter((file) => file.endsWith(".md"));

/** Returns what is wrong with a documented command, or undefined. */
function problemOf(command: string): string | undefined {
  const plain = command.replace(/^[A-Z_]+=(?:"\$\((.*)\)"|\w+) /, "");
  const [program, first = "", second = ""] = plain.split(" ");
  if (program === "npm" && first === "run") return second in scripts ? undefined : "has no such script";
  if (program === "npm") return ["test", "install", "pack"].includes(first) ? undefined : "is not known here";
  if (program === "npx" && first === "pulumi-webhook-endpoints")
    return problemOfOwn(plain.split(" && ")[0] ?? "");
  // A package of npm that the page names.
  if (program === "npx" && first === "esbuild") return undefined;
  if (["node", "export", "curl", "cp"].includes(program ?? "")) return undefined;
  return CLI_COMMANDS.test(plain) ? undefined : "is not known here";
}

const helps = new Map<string, string>();

function helpOf(subcommand: string): string {
  const known = helps.get(subcommand);
  if (known !== undefined) return known;
  const main = join(root, "dist/cli/main.js");
  const help = execFileSync(process.execPath, [main, subcommand, "--help"], { encoding: "utf8" });
  helps.set(subcommand, help);
  return help;
}

/** Asks the command itself whether it knows a subcommand and its options. */
function problemOfOwn(command: string): string | undefined {
  const [subcommand = "", ...rest] = command.split(" ").slice(2);
  const help = helpOf(subcommand);
  if (!help.startsWith(`Usage: pulumi-webhook-endpoints ${subcommand} `)) return "is not a subcommand";
  const unknown = rest.filter((word) => word.startsWith("-") && !help.includes(word));
  return unknown.length === 0 ? undefined : `does not know ${unknown.join(", ")}`;
}

// tutorial.test.ts runs the commands of the tutorial.
test.each(pages.filter((page) => page !== "docs/tutorial.md"))(
  "%s names only commands that exist",
  (page) => {
    const problems = commandsOf(read(page)).map((command) => [command, problemOf(command)]);
    expect(problems.filter(([, problem]) => problem !== undefined)).toEqual([]);
  },
);

test.each([
  "npm run nothing",
  "npx pulumi-webhook-endpoints nothing",
  "npx pulumi-webhook-endpoints list --nothing",
  "pulumi nothing",
])("the check of commands refuses %s", (command) => {
  expect(problemOf(command)).toBeDefined();
});
