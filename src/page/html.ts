/** Characters that are invisible or change the direction of a line, except line feed and tab. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Markup that is safe to send. Only `html` creates it. */
class Html {
  constructor(readonly markup: string) {}
}

export type { Html };

/** A value in a template. False and undefined become nothing. */
export type Part = Html | string | number | false | undefined | readonly Part[];

/** Creates markup. Every value is escaped, except markup that this function has created. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((markup, string, index) => markup + rendered(parts[index - 1]) + string));
}

/** Escapes a value for content and quoted attributes, and writes invisible characters as `\u{…}`. */
function rendered(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.markup;
  if (typeof part === "object") return part.map(rendered).join("");
  return String(part)
    .replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
