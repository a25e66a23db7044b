import { isThenable } from "./deadline";
import { JOB_EVENTS } from "./event";
import type { EventDelivery, Handler } from "./types";

/** What checks handlers: the function that they were passed to, and the events that the program declares. */
export interface HandlerCheck {
  readonly owner: string;
  readonly declared: readonly string[];
}

/**
 * Checks the handlers, and returns them by event.
 * @throws TypeError if they are not an object with a function for each event
 */
export function handlersByEvent(
  handlers: unknown,
  { owner, declared }: HandlerCheck,
): ReadonlyMap<string, Handler<EventDelivery>> {
  if (typeof handlers !== "object" || handlers === null)
    throw new TypeError(`${owner}: handlers must be an object with a function for each event.`);
  // The properties of a Map, a list or a promise are not its handlers, so every event would count as unhandled.
  if (Symbol.iterator in handlers)
    throw new TypeError(
      `${owner}: handlers must be a plain object, not a Map or a list. Use Object.fromEntries(handlers).`,
    );
  if (isThenable(handlers))
    throw new TypeError(`${owner}: handlers must be a plain object, not a promise. Await it first.`);
  const events = [...new Set([...JOB_EVENTS, ...declared])];
  for (const name of Object.keys(handlers)) {
    if (!events.includes(name)) {
      throw new TypeError(
        `${owner}: "${name}" is not an event of the service (${events.join(", ")}). Declare other events in the option events, or ` +
          "handle them in onUnhandled.",
      );
    }
  }
  // A Map: the name of an event comes from the sender, and `constructor` must not find a function.
  const byEvent = new Map<string, Handler<EventDelivery>>();
  for (const event of events) {
    const handler = (handlers as Record<string, unknown>)[event];
    if (handler === undefined) continue;
    checkHandler(`${owner}: the handler of "${event}"`, handler);
    // Called for deliveries of its own event only. Bound, as it may be a method.
    byEvent.set(event, (handler as Handler<EventDelivery>).bind(handlers));
  }
  return byEvent;
}

/** @throws TypeError */
export function checkHandler(name: string, handler: unknown): void {
  if (typeof handler !== "function") throw new TypeError(`${name} is not a function.`);
  if (/^\[object (Async)?GeneratorFunction\]$/.test(tagOf(handler)))
    throw new TypeError(
      `${name} is a generator function, and calling it would run nothing. Use an async function.`,
    );
}

/**
 * Throws if a handler's result shows that the handler has not run yet: the delivery then counts as failed, and is not acknowledged.
 * @throws TypeError
 */
export function checkRan(result: unknown): void {
  if (typeof result === "function")
    throw new TypeError(
      "The handler returned a function, and nothing was handled. Call the function that makes the handler, and pass its result.",
    );
  if (/^\[object (Async)?Generator\]$/.test(tagOf(result)))
    throw new TypeError("The handler returned a generator, and nothing was handled. Use an async function.");
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value);
}
