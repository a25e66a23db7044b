import { InvalidArgumentError, Option } from "commander";
import { problemOfReceiverUrl } from "../shared/url";

const COMMON = "Common options:";

/** The stack whose settings, secrets or state a command uses. */
export const stackOption = () =>
  new Option("-s, --stack <name>", "use this stack (default: the selected one)").helpGroup(COMMON);

export const allOption = () =>
  new Option("--all", "read the stacks of the whole backend, not just of this project");

export const jsonOption = () =>
  new Option("--json", "print JSON on standard output, and nothing else").helpGroup(COMMON);

export const yesOption = () => new Option("-y, --yes", "do not ask").helpGroup(COMMON);

export const helpOption = () => new Option("-h, --help", "show this help").helpGroup(COMMON);

/** Returns a parser of whole numbers up to a limit. The parser throws InvalidArgumentError. */
export function wholeNumber(max: number) {
  return (value: string): number => {
    if (/^\d{1,9}$/.test(value) && Number(value) <= max) return Number(value);
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${max}.`);
  };
}

/** Parses the number of a port; 0 stands for a free one. */
export const port = wholeNumber(65_535);

/** Parses a moment, such as `2026-11-21T09:30:00Z`, into unix seconds. @throws InvalidArgumentError */
export function moment(value: string): number {
  const milliseconds = /T\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/i.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(milliseconds)) return Math.floor(milliseconds / 1_000);
  throw new InvalidArgumentError("It must be a time with its zone, such as 2026-11-21T09:30:00Z.");
}

/** Parses the url of a receiver. @throws InvalidArgumentError */
export function httpUrl(value: string): string {
  const problem = problemOfReceiverUrl(value);
  if (problem === undefined) return value;
  throw new InvalidArgumentError(`It ${problem}.`);
}
