import { InvalidArgumentError } from "commander";
import { problemOfUrl } from "../validation/validateReceiver";
import { CliError } from "./errors";

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const UNIX_SECONDS = /^\d{9,11}$/;
/** A date with a time and a time zone. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/i;

/** Parses a whole number. @throws InvalidArgumentError */
export function wholeNumber(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number.");
}

/** Parses a duration, such as 90s, 15m, 2h or 7d, into seconds. @throws InvalidArgumentError */
export function durationSeconds(value: string): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  const size = SECONDS_PER_UNIT[unit];
  if (size !== undefined) return Number(count) * size;
  throw new InvalidArgumentError("It must be a number with a unit: 90s, 15m, 2h or 7d.");
}

/** Parses a moment into unix seconds. @throws InvalidArgumentError */
export function unixSeconds(value: string): number {
  if (UNIX_SECONDS.test(value)) return Number(value);
  const milliseconds = DATE_TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(milliseconds)) return Math.floor(milliseconds / 1000);
  throw new InvalidArgumentError(
    "It must be a date with a time zone, such as 2026-11-21T09:30:00Z, or unix seconds.",
  );
}

/** Checks the url of a receiver. The message does not repeat it, because it may hold a token. @throws CliError `WRONG_USE` */
export function checkUrl(url: string, name: string): void {
  const problem = problemOfUrl(url);
  if (problem !== undefined) throw new CliError("WRONG_USE", `${name} ${problem}`);
}
