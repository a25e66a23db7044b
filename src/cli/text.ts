import { countOf } from "../shared/words";

/** The units of durations, the longest first. */
export const UNITS: readonly { readonly letter: string; readonly name: string; readonly seconds: number }[] =
  [
    { letter: "w", name: "week", seconds: 7 * 86_400 },
    { letter: "d", name: "day", seconds: 86_400 },
    { letter: "h", name: "hour", seconds: 3_600 },
    { letter: "m", name: "minute", seconds: 60 },
    { letter: "s", name: "second", seconds: 1 },
  ];
/** Those of descriptions. */
const UNITS_UP_TO_DAYS = UNITS.slice(1);
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
  const unit = UNITS_UP_TO_DAYS.find(({ seconds }) => ageMs >= seconds * 1000) ?? { letter: "s", seconds: 1 };
  return `${Math.max(0, Math.floor(ageMs / (unit.seconds * 1000)))}${unit.letter}`;
}

/** Describes a duration with its two largest units, such as "3 hours 5 minutes". */
export function durationText(seconds: number): string {
  let left = Math.round(seconds);
  const parts: string[] = [];
  for (const unit of UNITS_UP_TO_DAYS) {
    const count = Math.floor(left / unit.seconds);
    left -= count * unit.seconds;
    if (count > 0) parts.push(countOf(count, unit.name));
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(" ") || "0 seconds";
}

/** Returns unix seconds as a date of ISO 8601, or as they are if no date can hold them. */
export function clockText(timestamp: number): string {
  const date = new Date(timestamp * 1000);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString().replace(".000Z", "Z");
}
