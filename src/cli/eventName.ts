import { JOB_EVENTS, VALIDATION_EVENT } from "../receiver/event";
import { nearestOf } from "../shared/knownOptions";
import { CliError } from "./errors";
import { mayBeKey } from "./mayBeKey";

const KNOWN: readonly string[] = [...JOB_EVENTS, VALIDATION_EVENT];

/**
 * Checks the name of an event. The message does not repeat it, because it may be a key.
 *
 * @param options.any whether any name will do. If not, one that is probably a misspelt event of the service is refused
 * @throws CliError `WRONG_USE`
 */
export function checkEventName(name: string, { any }: { readonly any: boolean }): void {
  if (name.trim() === "" || /whsec_/i.test(name) || (!any && mayBeKey(name)))
    throw new CliError("WRONG_USE", "the event must be a name, such as job.succeeded");
  if (any || KNOWN.includes(name)) return;
  const nearest = nearestOf(name, KNOWN);
  if (nearest === undefined && !/^job\./i.test(name)) return;
  const hint = nearest === undefined ? "." : `; did you mean ${nearest}?`;
  const events = `Its events are ${JOB_EVENTS.join(", ").replace(/, (?!.*,)/, " and ")}. To use this name nevertheless, add --any-event`;
  throw new CliError("WRONG_USE", `the service has no such event${hint} ${events}`);
}
