/** Returns the part of a page below a heading of the second level. */
function sectionOf(page, heading) {
  const [, section] = page.split(new RegExp(`^## ${heading}\n`, "m"));
  if (section === undefined) throw new Error(`the page has no section "${heading}"`);
  return section.split(/^## /m)[0];
}

/** Returns the first block of code in this language. */
function codeOf(text, language) {
  const [, code] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(text) ?? [];
  if (code === undefined) throw new Error(`the page has no block of ${language}`);
  return code;
}

/** Returns the commands of all shell blocks, without comments. */
function commandsOf(text) {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block);
  return blocks.flatMap((block) => block.split("\n")).filter((line) => line !== "" && !line.startsWith("#"));
}

module.exports = { codeOf, commandsOf, sectionOf };
