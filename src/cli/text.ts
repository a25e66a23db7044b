/** The units of ages, the longest first. */
const UNITS = [
  { letter: "d", milliseconds: 86_400_000 },
  { letter: "h", milliseconds: 3_600_000 },
  { letter: "m", milliseconds: 60_000 },
];
/** How many ids a message names. */
const MAX_NAMED = 5;

/** Joins names as a sentence does, and only counts those after the first few. */
export function joined(names: readonly string[]): string {
  const shown = names.slice(0, names.length > MAX_NAMED ? MAX_NAMED : -1);
  const rest = names.length > MAX_NAMED ? `${names.length - MAX_NAMED} more` : (names.at(-1) ?? "");
  return shown.length === 0 ? rest : `${shown.join(", ")} and ${rest}`;
}

/** Describes an age, such as `3d`, in its largest unit up to days. */
export function describeAge(ageMs: number | undefined): string {
  if (ageMs === undefined) return "unknown";
  const { letter, milliseconds } = UNITS.find((unit) => ageMs >= unit.milliseconds) ?? {
    letter: "s",
    milliseconds: 1_000,
  };
  return `${Math.max(0, Math.floor(ageMs / milliseconds))}${letter}`;
}
