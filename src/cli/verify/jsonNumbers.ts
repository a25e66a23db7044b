/** Returns the spelling of a JSON number. */
type NumberSpelling = (text: string) => string;

const WHOLE = /^-?\d+$/;
/** How many combinations of spellings are tried. With more, only one number at a time is changed. */
const MOST_COMBINATIONS = 4_096;

/** How languages write numbers, the most likely first. Each completes "JSON …". */
export const NUMBER_SPELLINGS: readonly (readonly [description: string, spelling: NumberSpelling])[] = [
  ["", (text) => text],
  [", with numbers as JavaScript writes them", (text) => (WHOLE.test(text) ? text : javaScript(text))],
  [", with whole numbers written as 1.0", (text) => (WHOLE.test(text) ? `${text}.0` : text)],
  [", with numbers of two decimals", (text) => twoDecimals(text)],
  [", with fractions of two decimals", (text) => (WHOLE.test(text) ? text : twoDecimals(text))],
  [", with floating-point numbers as Python writes them", (text) => (WHOLE.test(text) ? text : python(text))],
  [", with floating-point numbers as Java writes them", (text) => (WHOLE.test(text) ? text : java(text))],
  // A large float has become a whole number where JavaScript wrote it again.
  [", with floating-point numbers and large ones as Python writes them", largeToo(python)],
  [", with floating-point numbers and large ones as Java writes them", largeToo(java)],
  [", with every number as Java writes a floating-point one", (text) => java(text)],
];

/** Returns the ways in which a number may have been written before a parser dropped its last zeros, or its exponent. */
function spellingsOf(text: string): readonly string[] {
  const whole = WHOLE.test(text) ? [`${text}.0`] : [];
  return [...new Set([text, ...whole, twoDecimals(text), javaScript(text), python(text), java(text)])];
}

/** Returns the spelling that leaves a whole number as it is, unless the language writes it with an exponent. */
function largeToo(spelling: NumberSpelling): NumberSpelling {
  return (text) => {
    const written = spelling(text);
    return WHOLE.test(text) && !/e/i.test(written) ? text : written;
  };
}

/**
 * Generates the spellings of several numbers, each written in its own way: the sender may write prices as `10.00`, and counts as
 * `3`.
 */
export function* numberCombinations(texts: readonly string[]): Generator<readonly string[]> {
  const choices = texts.map(spellingsOf);
  const total = choices.reduce((product, each) => product * each.length, 1);
  if (total > MOST_COMBINATIONS) {
    for (const [at, spellings] of choices.entries())
      for (const spelling of spellings.slice(1)) yield texts.with(at, spelling);
    return;
  }
  for (let number = 1; number < total; number += 1) {
    let rest = number;
    yield choices.map((spellings) => {
      const spelling = spellings[rest % spellings.length] ?? "";
      rest = Math.floor(rest / spellings.length);
      return spelling;
    });
  }
}

function javaScript(text: string): string {
  const value = Number(text);
  return Number.isFinite(value) ? JSON.stringify(value) : text;
}

function twoDecimals(text: string): string {
  const value = Number(text);
  const written = Math.abs(value) < 1e15 ? value.toFixed(2) : text;
  return Number(written) === value ? written : text;
}

/** `repr` of a float: `1e+16` where JavaScript still writes digits, `1e-05` where it writes `0.00001`. */
function python(text: string): string {
  const value = Number(text);
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return text;
  if (size !== 0 && (size >= 1e16 || size < 1e-4))
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** `Double.toString`: `1.0E10` where JavaScript writes digits. */
function java(text: string): string {
  const value = Number(text);
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return text;
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) {
    const [digits = "", exponent = ""] = value.toExponential().split("e");
    return `${digits.includes(".") ? digits : `${digits}.0`}E${exponent.replace("+", "")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
