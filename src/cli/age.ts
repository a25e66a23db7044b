import { InvalidArgumentError } from "commander";

/** The units of durations, the longest first, in milliseconds. */
const UNITS: readonly (readonly [string, number])[] = [
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** Parses a duration such as `7d` into milliseconds, for commander. @throws InvalidArgumentError */
export function parseDuration(value: string): number {
  const [, number, unit] = /^(\d{1,6})([smhdw])$/.exec(value) ?? [];
  const milliseconds = UNITS.find(([name]) => name === unit)?.[1];
  if (milliseconds !== undefined) return Number(number) * milliseconds;
  throw new InvalidArgumentError(
    "It must be a number with a unit: s, m, h, d or w, for seconds, minutes, hours, days or weeks.",
  );
}

/** Describes an age, such as `3d`, in its largest unit up to days. */
export function describeAge(ageMs: number | undefined): string {
  if (ageMs === undefined) return "unknown";
  const [name, unit] = UNITS.slice(1).find(([, each]) => ageMs >= each) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(ageMs / unit))}${name}`;
}
