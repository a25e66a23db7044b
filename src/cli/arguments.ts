import { Command, InvalidArgumentError } from "commander";
import { JOB_EVENTS, VALIDATION_EVENT } from "../receiver/event";
import { nearestOf } from "../shared/knownOptions";
import { mayBeKey } from "../shared/mayBeKey";
import { problemOfUrl } from "../validation/arguments";
import { CliError } from "./errors";
import { joined, UNITS } from "./text";

const KNOWN_EVENTS: readonly string[] = [...JOB_EVENTS, VALIDATION_EVENT];
const UNIX_SECONDS = /^\d{9,11}$/;
/** A date with a time and a time zone. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/i;

/** More seconds than this no timer holds. */
const LARGEST = 2_000_000;
const LARGEST_PORT = 65_535;

/** Parses a whole number. @throws InvalidArgumentError */
export function wholeNumber(value: string): number {
  if (/^\d{1,7}$/.test(value) && Number(value) <= LARGEST) return Number(value);
  throw new InvalidArgumentError(`It must be a whole number, at most ${LARGEST}.`);
}

/** Parses the number of a port. @throws InvalidArgumentError */
export function portNumber(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= LARGEST_PORT) return Number(value);
  throw new InvalidArgumentError(`It must be a port: a whole number from 0 to ${LARGEST_PORT}.`);
}

/** Parses a moment into unix seconds. @throws InvalidArgumentError */
export function unixSeconds(value: string): number {
  if (UNIX_SECONDS.test(value)) return Number(value);
  const milliseconds = DATE_TIME.test(value) && isDay(value.slice(0, 10)) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(milliseconds)) return Math.floor(milliseconds / 1000);
  throw new InvalidArgumentError(
    "It must be a date with a time zone, such as 2026-11-21T09:30:00Z, or unix seconds.",
  );
}

/** False for a day that its month does not have: `Date.parse` takes it for one of the next month. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00Z`).toJSON()?.startsWith(day) === true;
}

/** Parses a duration such as `7d` into milliseconds. @throws InvalidArgumentError */
export function parseDuration(value: string): number {
  const [, number, letter] = /^(\d{1,6})([smhdw])$/.exec(value) ?? [];
  const unit = UNITS.find((each) => each.letter === letter);
  if (unit !== undefined) return Number(number) * unit.seconds * 1000;
  throw new InvalidArgumentError(
    "It must be a whole number with a unit: s, m, h, d or w, for seconds, minutes, hours, days or weeks.",
  );
}

/** Checks the url of a receiver. The message does not repeat it, because it may hold a token. @throws CliError `WRONG_USE` */
export function checkUrl(url: string, name: string): void {
  const problem = problemOfUrl(url);
  if (problem !== undefined) throw new CliError("WRONG_USE", `${name} ${problem}`);
}

/** Checks the url of an endpoint to register, in the same way. @throws CliError `WRONG_USE` */
export function checkEndpointUrl(url: string, name: string): void {
  checkUrl(url, name);
  if (url.includes("#")) throw new CliError("WRONG_USE", `${name} must not contain a fragment`);
}

/** Lets the ids of a command begin with a dash, as one in 64 of base64url does: commander would read them as options. */
export function takingIds(command: Command): Command {
  command.parseOptions = (args) => Command.prototype.parseOptions.call(command, idsLast(args, command));
  return command;
}

/** Puts each argument that begins with one dash and with no option behind `--`. @throws CliError `WRONG_USE` for what may be either */
function idsLast(args: readonly string[], { options }: Command): string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const ids: string[] = [];
  const rest: string[] = [];
  for (let at = 0; at < end; at++) {
    const arg = args[at] ?? "";
    const mayBeId = /^-[^-]./.test(arg);
    if (mayBeId && options.some(({ short }) => short === arg.slice(0, 2)))
      throw new CliError(
        "WRONG_USE",
        `an argument that begins with ${arg.slice(0, 2)} may be that option or an id. Write the option's value as an argument of its own, and the id behind --`,
      );
    if (mayBeId) ids.push(arg);
    else rest.push(arg);
    // The value of an option may look like an id.
    if (options.some((option) => option.required && [option.short, option.long].includes(arg)))
      rest.push(...args.slice(++at, at + 1));
  }
  return ids.length === 0 ? [...args] : [...rest, "--", ...ids, ...args.slice(end + 1)];
}

/** Refuses the second value of an option that has one: the last alone would count. A list of values is the default of one that has more. */
export function takeOptionsOnce(command: Command): void {
  const single = command.options.filter(
    (option) => !(option.isBoolean() || option.variadic || Array.isArray(option.defaultValue)),
  );
  for (const option of single) {
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`option '${option.flags}' was given more than once. Give it once`);
      isGiven = true;
    });
  }
}

/** @throws CliError `WRONG_USE` */
export function checkIds(ids: readonly string[]): void {
  if (ids.some((id) => id.trim() === "" || /whsec_/i.test(id)))
    throw new CliError(
      "WRONG_USE",
      "each id must be that of an endpoint, as `npx pulumi-webhook-endpoints list` shows it",
    );
}

/**
 * Checks the name of an event. The message does not repeat it, because it may be a key.
 *
 * @param options.any whether any name will do. If not, one that is probably a misspelt event of the service is refused
 * @throws CliError `WRONG_USE`
 */
export function checkEventName(name: string, { any }: { readonly any: boolean }): void {
  if (name.trim() === "" || /whsec_/i.test(name) || (!any && mayBeKey(name)))
    throw new CliError("WRONG_USE", "the event must be a name, such as job.succeeded");
  if (any || KNOWN_EVENTS.includes(name)) return;
  const nearest = nearestOf(name, KNOWN_EVENTS);
  if (nearest === undefined && !/^job\./i.test(name)) return;
  const hint = nearest === undefined ? "." : `; did you mean ${nearest}?`;
  const events = `Its events are ${joined(JOB_EVENTS)}. To use this name nevertheless, add --any-event`;
  throw new CliError("WRONG_USE", `the service has no such event${hint} ${events}`);
}
