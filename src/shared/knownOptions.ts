/**
 * Describes each option that is not one of the known ones. TypeScript refuses a misspelt option, but plain JavaScript drops it.
 * An option that is undefined counts as left out.
 *
 * @param what what the options belong to, such as "an option of WebhooksProvider"
 */
export function unknownOptions(options: unknown, known: readonly string[], what: string): string[] {
  if (typeof options !== "object" || options === null) return [];
  return Object.entries(options)
    .filter(([name, value]) => value !== undefined && !known.includes(name))
    .map(([name]) => `${name} is not ${what}; use ${known.join(", ")}`);
}

/** Returns the known name that a misspelt one probably stands for. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, distance }) => distance <= Math.ceil(each.length / 3))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.each;
}

/** Returns how many characters must be inserted, removed or changed to make one string of the other (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const character of a) {
    let diagonal = -1;
    let left = row[0] ?? 0;
    row = row.map((above, column) => {
      const changed = diagonal + (b[column - 1] === character ? 0 : 1);
      left = column === 0 ? above + 1 : Math.min(changed, above + 1, left + 1);
      diagonal = above;
      return left;
    });
  }
  return row[b.length] ?? 0;
}
