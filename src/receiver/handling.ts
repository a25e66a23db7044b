import { checkFunctions, checkNumber } from "./checks";
import { isThenable, LONGEST_TIMER_MS } from "./deadline";
import type { DedupeStore } from "./dedupe/store";
import { JOB_EVENTS } from "./event";
import type { HandlingOptions } from "./options";
import type { Processing } from "./process";
import { schemasByEvent } from "./schema";
import type { EventDelivery, Handler } from "./types";

const DEFAULT_TIMEOUT_MS = 15_000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 10_000;
const DEDUPE = {
  functions: ["claim", "complete", "release"],
  advice: "Pass memoryDedupe(), redisDedupe({ client }), or a store of your own that implements DedupeStore.",
};

/**
 * Checks what handles deliveries, and fills in the defaults.
 * @param owner the function that the options were passed to, such as "createReceiver"
 * @throws RangeError for a number out of its range, TypeError for an invalid handler, schema or store
 */
export function resolveHandling<Events extends object>(
  owner: string,
  options: HandlingOptions<Events> & { readonly handlerTimeoutMs?: number | undefined },
  store: DedupeStore | undefined,
): Processing {
  const handlerTimeoutMs = checkedTimeout(owner, options.handlerTimeoutMs);
  const { leaseMs = handlerTimeoutMs + STORE_MARGIN_MS, onUnhandled } = options;
  checkNumber(`${owner}: leaseMs, which must be longer than handlerTimeoutMs,`, leaseMs, {
    least: handlerTimeoutMs + 1,
  });
  if (store !== undefined) checkFunctions(`${owner}: dedupe`, store, DEDUPE);
  if (onUnhandled !== undefined) checkHandler(`${owner}: onUnhandled`, onUnhandled);
  const schemas = schemasByEvent(owner, options.events);
  const events = new Set<string>([...JOB_EVENTS, ...schemas.keys()]);
  const handlers = handlersByEvent(options.handlers, { owner, events });
  const isKnown = (event: string | undefined) => event !== undefined && events.has(event);
  return { store, handlers, schemas, isKnown, onUnhandled, handlerTimeoutMs, leaseMs };
}

/** @throws RangeError */
export function checkedTimeout(owner: string, handlerTimeoutMs = DEFAULT_TIMEOUT_MS): number {
  checkNumber(`${owner}: handlerTimeoutMs`, handlerTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return handlerTimeoutMs;
}

/** What checks handlers: the function that they were passed to, and the events of the service and of the program. */
interface HandlerCheck {
  readonly owner: string;
  readonly events: ReadonlySet<string>;
}

/**
 * Checks the handlers, and returns them by event.
 * @throws TypeError if they are not an object with a function for each event
 */
function handlersByEvent(
  handlers: unknown,
  { owner, events }: HandlerCheck,
): ReadonlyMap<string, Handler<EventDelivery>> {
  // The properties of a Map, a list or a promise are not its handlers, so every event would count as unhandled.
  if (
    typeof handlers !== "object" ||
    handlers === null ||
    Symbol.iterator in handlers ||
    isThenable(handlers)
  )
    throw new TypeError(
      `${owner}: handlers must be an object with a function for each event, not a Map, a list or a promise.`,
    );
  for (const name of [...Object.keys(handlers), ...methodsLikeEvents(handlers)]) {
    if (!events.has(name)) {
      throw new TypeError(
        `${owner}: "${name}" is not an event of the service (${[...events].join(", ")}). Declare other events in the option events, or ` +
          "handle them in onUnhandled.",
      );
    }
  }
  // A Map: the name of an event comes from the sender, and `constructor` must not find a function.
  const byEvent = new Map<string, Handler<EventDelivery>>();
  for (const event of events) {
    const handler = (handlers as Record<string, unknown>)[event];
    // Every object inherits `toString` and others, which are not handlers.
    if (!Object.hasOwn(handlers, event) && (handler === undefined || event in Object.prototype)) continue;
    checkHandler(`${owner}: the handler of "${event}"`, handler);
    // Called for deliveries of its own event only. Bound, as it may be a method.
    byEvent.set(event, (handler as Handler<EventDelivery>).bind(handlers));
  }
  return byEvent;
}

/** Returns the names of a class's methods that are meant for an event, as its dot shows. Its other methods are its own business. */
function methodsLikeEvents(instance: object): string[] {
  const prototype: object | null = Object.getPrototypeOf(instance);
  if (prototype === null) return [];
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name.includes("."));
  return [...own, ...methodsLikeEvents(prototype)];
}

/** @throws TypeError */
function checkHandler(name: string, handler: unknown): void {
  if (typeof handler !== "function")
    throw new TypeError(
      `${name} is ${handler === undefined ? "undefined. Leave out an event without one" : "not a function"}.`,
    );
  if (/^\[object (Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(handler)))
    throw new TypeError(
      `${name} is a generator function, and calling it would run nothing. Use an async function.`,
    );
}
