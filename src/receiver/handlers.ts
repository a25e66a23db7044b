import { CodedError } from "../shared/codedError";
import { JOB_EVENTS } from "../signature/event";
import type { TrackedDelivery } from "./delivery";
import { refuseOptions } from "./limits";
import type { Handling } from "./options";
import type { Warn } from "./reports";
import type { Delivery, Handler, SchemaIssue, StandardSchema } from "./types";

/** Handles a delivery that has been taken. */
export type Work = (delivery: TrackedDelivery) => unknown;

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
        `The schema of "${event}" is not one of a library that implements Standard Schema, such as Zod, Valibot or ArkType. ` +
          "Pass one of those, or true.",
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

/** Has a delivery handled with its data as the schema gives it. The work rejects with an InvalidDataError if it does not fit. */
function onValidData(schema: StandardSchema, event: string, work: Work): Work {
  return async (delivery) => {
    const result = await schema["~standard"].validate(delivery.data);
    if (result.issues) throw new InvalidDataError(event, result.issues);
    // While the schema was asked, the delivery may have become the sender's or the queue's again.
    delivery.throwIfExpired();
    delivery.data = result.value;
    return work(delivery);
  };
}

/**
 * Checks what a handler, or a queue's `add`, resolved with. Only a `Response` with `ok: false` is a failure: `fetch` resolves with one.
 * Warns of an object that runs only when it is told to, such as an Observable or a query.
 * @param what which of them, for the message
 * @throws TypeError
 */
export function checkResult(result: unknown, what: "a handler" | "the queue's add", warn: Warn): void {
  if (typeof result !== "object" || result === null) return;
  const object = result as Readonly<Record<string, unknown>>;
  // By its tag: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  if (Object.prototype.toString.call(result) === "[object Response]" && object.ok === false)
    throw new TypeError(
      `What ${what} returned is a Response with status ${object.status}, so it counts as failed.`,
    );
  const runs = ["subscribe", "execute"].find((name) => typeof object[name] === "function");
  if (runs !== undefined)
    warn(
      `What ${what} returned has a function ${runs}, so it may never have run, and the delivery counts as done. ` +
        "Await its end: return lastValueFrom(observable), or what execute() returns.",
    );
}

/** A delivery's data does not fit the schema of its event. */
class InvalidDataError extends CodedError<"INVALID_DATA"> {
  override readonly name = "InvalidDataError";
  readonly #issues: readonly SchemaIssue[];

  constructor(event: string, issues: readonly SchemaIssue[]) {
    const places = [...new Set(issues.map(placeOf))].slice(0, 5).join(", ");
    super(
      "INVALID_DATA",
      `The data of "${event}" does not fit its schema, at ${places}. See the error's issues.`,
    );
    this.#issues = issues;
  }

  /** What the schema found. A schema may repeat values, so neither the message nor what a logger prints of the error has it. */
  get issues(): readonly SchemaIssue[] {
    return this.#issues;
  }
}

function placeOf({ path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.join(".").slice(0, 100) || "its root";
}
