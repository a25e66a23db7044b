const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** Describes a duration with its two largest units, such as "3 hours 5 minutes". */
export function durationText(seconds: number): string {
  let left = Math.round(seconds);
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(" ") || "0 seconds";
}

/** Returns unix seconds as a date of ISO 8601, or as they are if no date can hold them. */
export function clockText(timestamp: number): string {
  const date = new Date(timestamp * 1000);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString().replace(".000Z", "Z");
}
