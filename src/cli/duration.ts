import { InvalidArgumentError } from "commander";

/** In milliseconds, the longest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** Parses a duration such as `7d` into milliseconds. @throws InvalidArgumentError */
export function duration(value: string): number {
  const [, number, unit] = /^(\d{1,6})([dhms])$/.exec(value) ?? [];
  if (unit === undefined)
    throw new InvalidArgumentError("It must be a number with a unit, such as 90s, 15m, 2h or 7d.");
  return Number(number) * UNITS[unit as keyof typeof UNITS];
}

/** Describes an age, such as `3d`, in its largest unit. */
export function describeAge(ageMs: number | undefined): string {
  if (ageMs === undefined) return "unknown";
  const [unit, milliseconds] = Object.entries(UNITS).find(([, each]) => ageMs >= each) ?? ["s", UNITS.s];
  return `${Math.floor(ageMs / milliseconds)}${unit}`;
}
