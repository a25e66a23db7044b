import { readdirSync } from "node:fs";
import { join } from "node:path";
import { read, root } from "./pages";

/** Lines of a page of documentation. A longer one is two pages. */
const MOST_OF_A_PAGE = 400;
/** Lines of a source file, which has one concept: about 200, with room for one that is better whole. */
const MOST_OF_A_SOURCE = 250;
const MOST_OF_A_TEST = 450;

test.each([
  ["docs", /\.md$/, MOST_OF_A_PAGE],
  ["src", /\.ts$/, MOST_OF_A_SOURCE],
  ["test", /\.[jt]s$/, MOST_OF_A_TEST],
])("no file of %s that matches %s has more than %i lines", (folder, name, most) => {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => name.test(path) && !path.includes("node_modules"));
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => read(path).trimEnd().split("\n").length > most)).toEqual([]);
});
