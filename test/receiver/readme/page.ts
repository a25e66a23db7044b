import { read } from "../../package/pages";
import { snippetsOf } from "./snippets";

const text = read("docs/receiving.md");
const snippets = snippetsOf(text);

/** Returns the program with this title on the page of receivers. */
export function codeOf(title: string): string {
  const snippet = snippets.find((each) => each.title === title);
  if (snippet === undefined) throw new Error(`The page has no program "${title}".`);
  return snippet.code;
}

/** Returns the code in the row of a framework or a runtime, in the page's table. */
export function routeOf(name: string): string {
  const row = text.split("\n").find((line) => line.startsWith(`| ${name} |`));
  const [, cell = ""] = row?.split(" | ") ?? [];
  const [, route] = /^`(.+)`$/.exec(cell) ?? [];
  if (route === undefined) throw new Error(`The page has no route for "${name}".`);
  return route;
}
