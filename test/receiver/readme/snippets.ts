export interface Snippet {
  /** Its first line, a comment that names the file or the framework it is for. */
  readonly title: string;
  readonly code: string;
  readonly isTypeScript: boolean;
}

/** Returns the blocks of TypeScript and JavaScript on a page, or below one of its headings of the second level. */
export function snippetsOf(markdown: string, heading?: string): Snippet[] {
  const text = heading === undefined ? markdown : sectionOf(markdown, heading);
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, language = ""]) => /^(ts|typescript|js|javascript)$/.test(language))
    .map(([, language = "", code = ""]) => ({
      title: /^\/\/ (.*)/.exec(code)?.[1] ?? code,
      code,
      isTypeScript: language.startsWith("t"),
    }));
}

function sectionOf(markdown: string, heading: string): string {
  const [, section] = markdown.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`The page has no section "${heading}".`);
  const [own = ""] = section.split("\n## ");
  return own;
}
