import { JOB_EVENTS } from "../signature/event";
import type { Work } from "./delivery";
import { refuseOptions } from "./optionChecks";
import type { Handling } from "./options";
import { onValidData } from "./schema";
import type { Delivery, Handler, StandardSchema } from "./types";

/**
 * Checks the handlers and the schemas, and returns what finds the work of an event: undefined if nobody handles it.
 * @throws TypeError for an unknown event or option, a handler that is not a function, what is not a schema, and no handler at all
 */
export function workFinder<Events extends object>({
  handlers,
  events = {},
  onUnhandled,
  ...others
}: Handling<Events>): (event: string | undefined) => Work | undefined {
  refuseOptions(others, "node_modules/pulumi-webhook-endpoints/docs/receiving.md lists the options.");
  const schemas = new Map<string, StandardSchema | true>(Object.entries(events));
  for (const [event, schema] of schemas)
    if (schema !== true && typeof schema?.["~standard"]?.validate !== "function")
      throw new TypeError(
        `The schema of "${event}" does not implement Standard Schema. Pass one of Zod, Valibot, ArkType or another library that does, or true.`,
      );
  const known: readonly string[] = [...JOB_EVENTS, ...schemas.keys()];
  // A Map: the name of an event comes from the sender, and `constructor` must not find a function.
  const works = new Map<string, Work>();
  for (const [event, handler] of Object.entries<Handler<Delivery>>({ ...(handlers as object) })) {
    if (!known.includes(event))
      throw new TypeError(
        `"${event}" is not an event of the service (${known.join(", ")}). Declare other events in the option events, or ` +
          "handle them in onUnhandled.",
      );
    if (typeof handler !== "function")
      throw new TypeError(
        `The handler of "${event}" is ${typeof handler}, not a function. Leave out an event without one.`,
      );
    const schema = schemas.get(event) ?? true;
    const work: Work = handler.bind(handlers);
    works.set(event, schema === true ? work : onValidData(schema, event, work));
  }
  if (works.size === 0 && onUnhandled === undefined)
    throw new TypeError(
      "There are no handlers and no onUnhandled, so every event would be acknowledged and lost.",
    );
  return (event = "") => works.get(event) ?? onUnhandled;
}
