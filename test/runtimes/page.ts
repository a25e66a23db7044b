import { read } from "../package/pages";
import { snippetsOf } from "../receiver/readme/snippets";

const text = read("docs/receiving.md");
const snippets = snippetsOf(text);

/** Returns the program with this title on the page of receivers. */
export const codeOf = (title: string) => snippets.find((snippet) => snippet.title === title)?.code ?? "";

/** Returns the code in the row of a framework or a runtime, in the page's table of those whose route is one expression. */
export const routeOf = (name: string) =>
  new RegExp(`^\\| ${name} \\| \`([^\`]+)\``, "m").exec(text)?.[1] ?? "";
