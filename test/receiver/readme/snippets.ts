export interface Snippet {
  /** Its first line, a comment that names the file or the framework it is for. */
  readonly title: string;
  readonly code: string;
}

/** The blocks of TypeScript below a heading of the second level. */
export function snippetsOf(markdown: string, heading: string): Snippet[] {
  const [, section] = markdown.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`There is no section "${heading}".`);
  const [own = ""] = section.split("\n## ");
  return [...own.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, language = ""]) => /^(ts|typescript|js|javascript)$/.test(language))
    .map(([, , code = ""]) => ({ title: /^\/\/ (.*)/.exec(code)?.[1] ?? code, code }));
}
