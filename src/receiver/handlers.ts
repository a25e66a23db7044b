import { CodedError } from "../shared/codedError";
import { JOB_EVENTS } from "../signature/event";
import type { TrackedDelivery } from "./delivery";
import { refuseOptions } from "./optionChecks";
import type { Handling } from "./options";
import { type Log, ONCE } from "./reports";
import type { Delivery, Handler, SchemaIssue, StandardSchema } from "./types";
import { isThenable } from "./waiting";

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

/** Methods of what only runs when it is told to: Observables, queries, statements, pipelines, requests, effects. */
const LAZY = ["subscribe", "execute", "exec", "run", "promise", "pipe"] as const;

/**
 * Checks what a handler, or a queue's `add`, resolved with. Three results are failures: a `Response` with `ok: false`, which `fetch` resolves
 * with, and a function and a generator, which have not run. Logs once what may not have run.
 * @param what which of them, for the message
 * @throws TypeError
 */
export function checkResult(result: unknown, what: "a handler" | "the queue's add", log: Log): void {
  const failed = (problem: string) =>
    new TypeError(`What ${what} returned is ${problem}, so it counts as failed.`);
  if (typeof result === "function") throw failed("a function, which nobody has called");
  if (typeof result !== "object" || result === null) return;
  const object = result as Readonly<Record<string, unknown>>;
  // By their tags: undici and node-fetch have classes of their own, and Hono's server replaces the global one.
  const tag = Object.prototype.toString.call(result).slice("[object ".length, -1);
  if (tag === "Response" && object.ok === false) throw failed(`a Response with status ${object.status}`);
  if (tag === "Generator" || tag === "AsyncGenerator") throw failed("a generator, which has not run");
  // What emits events has begun by itself, and libraries resolve with it: got, superagent.
  const runs = LAZY.find(
    (name) => typeof object[name] === "function" && (name !== "pipe" || !("on" in object)),
  );
  const isList = Array.isArray(result) && result.some(isThenable);
  if (runs === undefined && !isList) return;
  log(
    `lazy ${runs}`,
    `What ${what} returned ${isList ? "is a list of promises" : `has a function ${runs}`}, so it may not have run, ` +
      "and the delivery counts as done. Return what runs it: Promise.all(list), lastValueFrom(observable), query.execute().",
    ONCE,
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

/** Of a record, the sender chooses the keys: what is no short name stays in `issues`. */
function placeOf({ path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return (
    names
      .map((name) => (/^[\w$-]{1,40}$/.test(name) ? name : "…"))
      .join(".")
      .slice(0, 100) || "its root"
  );
}
