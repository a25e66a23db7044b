import { read } from "../../package/pages";
import { snippetsOf } from "./snippets";

const frameworks = read("docs/frameworks.md");
const snippets = [read("docs/receiving.md"), frameworks, read("docs/deduplication.md")].flatMap((page) =>
  snippetsOf(page),
);

/** Returns the program with this title on the pages of receivers. */
export function codeOf(title: string): string {
  const snippet = snippets.find((each) => each.title === title);
  if (snippet === undefined) throw new Error(`The pages have no program "${title}".`);
  return snippet.code;
}

/** Returns the code in the row of a framework or a runtime, in the table of frameworks. */
export function routeOf(name: string): string {
  const row = frameworks.split("\n").find((line) => line.startsWith(`| ${name} |`));
  const [, cell = ""] = row?.split(" | ") ?? [];
  const [, route] = /^`(.+)`$/.exec(cell) ?? [];
  if (route === undefined) throw new Error(`The page has no route for "${name}".`);
  return route;
}
