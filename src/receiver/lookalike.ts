import { EVENT_BY_STATUS, isRecord, JOB_EVENTS } from "./event";

/** Names of events that stand for one of ours, once case and punctuation are gone: `JOB_SUCCEEDED`, `jobs.failed`, `job.success`. */
const LIKE_AN_EVENT = /^jobs?(runn|succe|fail)/;
/** Where services name the event, other than in `type`. */
const PLACES = [
  "type",
  "event",
  "eventType",
  "event_type",
  "eventName",
  "event_name",
  "name",
  "action",
  "topic",
  "kind",
];
const LONGEST_SHOWN = 40;

/** Returns a function that warns once of a body that looks like an event. */
export function lookalikeWarner(warn: (warning: string) => void): (message: unknown) => void {
  let hasWarned = false;
  return (message) => {
    const warning = hasWarned ? undefined : lookalikeWarning(message);
    if (warning === undefined) return;
    hasWarned = true;
    warn(warning);
  };
}

/**
 * Returns a warning if a body names none of the known events but looks as if it meant one: another spelling (`JOB.SUCCEEDED`), or
 * another place (`data.status`, or `event` for `type`). Without it, a service of another shape loses each event behind a 200.
 *
 * @param message the parsed body
 */
function lookalikeWarning(message: unknown): string | undefined {
  if (!isRecord(message)) return undefined;
  const { type } = message;
  // An event with a name of its own may have any property.
  if (typeof type === "string" && !/^jobs?/.test(plain(type))) return undefined;
  const seen = misspelt(message) ?? misplacedStatus(message);
  if (seen === undefined) return undefined;
  return (
    `A verified delivery was not recognized as an event of a job: it has ${seen}. The receiver expects \`type\` to be ` +
    `${JOB_EVENTS.map((event) => JSON.stringify(event)).join(", ")}, or a flat \`status\` that is ` +
    `${[...EVENT_BY_STATUS.keys()].map((status) => JSON.stringify(status)).join(", ")}. Until the service sends that, handle such ` +
    "deliveries in onUnhandled. You see this warning once."
  );
}

function misspelt(message: Record<string, unknown>): string | undefined {
  const holders = Object.entries({ "": message, "data.": message.data, "event.": message.event });
  for (const [prefix, holder] of holders) {
    if (!isRecord(holder)) continue;
    const place = PLACES.find(
      (name) => typeof holder[name] === "string" && LIKE_AN_EVENT.test(plain(holder[name])),
    );
    if (place !== undefined) return shown(prefix + place, holder[place]);
  }
  return undefined;
}

/** A status in the place of another shape, or in other letters. */
function misplacedStatus(message: Record<string, unknown>): string | undefined {
  for (const [prefix, holder] of Object.entries({
    "": message,
    "data.": message.data,
    "job.": message.job,
  })) {
    if (isRecord(holder) && EVENT_BY_STATUS.has(plain(holder.status)))
      return shown(`${prefix}status`, holder.status);
  }
  return undefined;
}

/** Returns a string's letters in lower case. */
function plain(value: unknown): string {
  return typeof value === "string" && value.length <= LONGEST_SHOWN
    ? value.toLowerCase().replace(/[^a-z]/g, "")
    : "";
}

function shown(place: string, value: unknown): string {
  return `\`${place}\` ${JSON.stringify(value)}`;
}
