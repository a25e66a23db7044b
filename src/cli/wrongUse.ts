import { shown } from "../stack/shown";

/** An option or a subcommand as somebody may misspell it. A key has digits, is longer, or mixes cases. */
const MISSPELT_NAME = /^-{0,2}[a-z][a-z-]{0,23}$/;
const HIDDEN = "(not shown, because it may be a secret)";

/**
 * Returns commander's message about wrong use without the values that it repeats: a key may have got into the place of any of them.
 * The quotes in a message are not escaped, so each pattern reaches to the last one.
 */
export function wrongUse(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/^(unknown (?:option|command)) '(.*)'/s, (_all, what, name) => `${what} ${quotedName(name)}`)
    .replace(/ (?:argument|value) '(.*)' is invalid/s, " is invalid")
    .trim();
}

function quotedName(name: string): string {
  const [option = ""] = name.split("=");
  return MISSPELT_NAME.test(option) && shown(option) === option ? `'${option}'` : HIDDEN;
}
