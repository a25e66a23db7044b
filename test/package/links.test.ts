import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { packedFiles, proseOf, read, root } from "./pages";

interface Link {
  readonly page: string;
  readonly target: string;
}

const packed = packedFiles();
const pages = packed.filter((file) => file.endsWith(".md"));

function linksOf(page: string): Link[] {
  return [...proseOf(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({ page, target }));
}

/** Returns the anchors of a page's headings, made as GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  const headings = [...markdown.replace(/^ *```.*?^ *```$/gms, "").matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** Returns what is wrong with a link, or undefined. */
function problemOf({ page, target }: Link): string | undefined {
  if (/^https:\/\//.test(target)) return undefined;
  if (/^[a-z]+:/.test(target)) return `${page}: ${target} is neither https nor relative`;
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : posix.join(posix.dirname(page), path);
  // Pictures are for who reads the pages on the web.
  if (/\.png$/.test(path) && existsSync(join(root, file))) return undefined;
  const isPacked = packed.includes(file) || packed.some((each) => each.startsWith(`${file}/`));
  if (!isPacked) return `${page}: ${target} leads to ${file}, which is not in the package`;
  if (anchor === undefined || anchorsOf(read(file)).includes(anchor)) return undefined;
  return `${page}: ${target} leads to a heading that ${file} does not have`;
}

test("every relative link of the packed pages leads to a packed file, and to a heading that it has", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/resource.md"]));
  const links = pages.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
});

test("every page of docs/ is linked from the README", () => {
  const linked = linksOf("README.md").map(({ target }) => target.split("#")[0]);
  const unlinked = pages.filter((page) => page.startsWith("docs/") && !linked.includes(page));
  expect(unlinked).toEqual([]);
});

test.each([
  ["a file that is not packed", "src/index.ts"],
  ["a file that does not exist", "docs/nowhere.md"],
  ["a heading that does not exist", "docs/resource.md#nowhere"],
  ["an address without TLS", "http://example.com"],
])("a link to %s is reported", (_what, target) => {
  expect(problemOf({ page: "README.md", target })).toContain(target);
});
