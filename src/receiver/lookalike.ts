import { isRecord, parseJson } from "../shared/json";
import { EVENT_BY_STATUS, JOB_EVENTS } from "./event";

/** Names of events that stand for one of ours: `JOB_SUCCEEDED`, `jobs.failed`, `job.success`, `com.acme.job.failed`. */
const LIKE_AN_EVENT = /^(\S*[^a-z\s])?jobs?[^a-z]*(runn|succe|fail)/;
/** A type that leaves the event to another property, or names one of a job. */
const NO_NAME_OF_ITS_OWN = /^(webhook|event|notification|message)?$|(?<![a-z])job/;
const LONGEST_NAME = 80;

/** Returns a function that warns once of a parsed body that looks like an event. */
export function lookalikeWarner(warn: (warning: string) => void): (message: unknown) => void {
  let hasWarned = false;
  return (message) => {
    const seen = hasWarned ? undefined : shapeOf(message);
    if (seen === undefined) return;
    hasWarned = true;
    warn(
      `A verified delivery was not recognized as an event of a job: it ${seen}. The receiver expects \`type\` to be ` +
        `${listOf(JOB_EVENTS)}, or a flat \`status\` that is ${listOf(EVENT_BY_STATUS.keys())}. Until the service sends that, handle ` +
        "such deliveries in onUnhandled. You see this warning once.",
    );
  };
}

/** Returns what a body has or is, as the end of a sentence, if it may be an event in another shape. */
function shapeOf(message: unknown): string | undefined {
  if (message === undefined) return "is not JSON";
  if (typeof message === "string") {
    const inner = shapeOf(parseJson(message) ?? null);
    return inner && `is a string of JSON, which ${inner}`;
  }
  const own = lookalikeIn(message);
  if (own !== undefined) return `has ${own}`;
  const events = isRecord(message) ? message.events : message;
  const first = Array.isArray(events) ? lookalikeIn(events[0]) : undefined;
  const what = events === message ? "is a list" : "has a list `events`";
  return first && `${what}, whose first item has ${first}`;
}

/**
 * Returns the property by which a body seems to mean one of the known events without naming it: another spelling (`JOB.SUCCEEDED`), or
 * another place (`data.status`, or `event` for `type`). Without a warning, a service of another shape loses each event behind a 200.
 */
function lookalikeIn(message: unknown): string | undefined {
  if (!isRecord(message)) return undefined;
  const { type, data, event, job, payload } = message;
  // An event with a name of its own may have any property.
  if (typeof type === "string" && !NO_NAME_OF_ITS_OWN.test(type.toLowerCase())) return undefined;
  if (type === "" && EVENT_BY_STATUS.has(message.status)) return '`type` ""';
  for (const [place, holder] of Object.entries({
    "": message,
    "data.": data,
    "event.": event,
    "job.": job,
    "payload.": payload,
  })) {
    for (const [name, value] of Object.entries(isRecord(holder) ? holder : {})) {
      const isStatus =
        /^(status|state)$/.test(name) && EVENT_BY_STATUS.has(lower(value).replace(/[^a-z]/g, ""));
      if (isStatus || LIKE_AN_EVENT.test(lower(value))) return `\`${place}${name}\` ${JSON.stringify(value)}`;
    }
  }
  return undefined;
}

/** Returns a string in lower case, unless it is too long for a name. */
function lower(value: unknown): string {
  return typeof value === "string" && value.length <= LONGEST_NAME ? value.toLowerCase() : "";
}

function listOf(names: Iterable<unknown>): string {
  return Array.from(names, (name) => JSON.stringify(name)).join(", ");
}
