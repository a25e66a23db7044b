import { isThenable } from "./deadline";
import { JOB_EVENTS } from "./event";
import type { Handler, Handlers, JobDelivery } from "./types";

/**
 * Checks the handlers, and returns them by event.
 * @throws TypeError if they are not an object with a function for each event
 */
export function handlersByEvent(handlers: Handlers): ReadonlyMap<string, Handler<JobDelivery>> {
  if (typeof handlers !== "object" || handlers === null)
    throw new TypeError("createReceiver: handlers must be an object with a function for each event.");
  // The properties of a Map, a list or a promise are not its handlers, so every event would count as unhandled.
  if (Symbol.iterator in handlers)
    throw new TypeError(
      "createReceiver: handlers must be a plain object, not a Map or a list. Use Object.fromEntries(handlers).",
    );
  if (isThenable(handlers))
    throw new TypeError("createReceiver: handlers must be a plain object, not a promise. Await it first.");
  for (const name of Object.keys(handlers)) {
    if (!(JOB_EVENTS as readonly string[]).includes(name)) {
      throw new TypeError(
        `createReceiver: "${name}" is not an event of the service (${JOB_EVENTS.join(", ")}). Handle other events in onUnhandled.`,
      );
    }
  }
  // A Map: the name of an event comes from the sender, and `constructor` must not find a function.
  const byEvent = new Map<string, Handler<JobDelivery>>();
  for (const event of JOB_EVENTS) {
    const handler = handlers[event];
    if (handler === undefined) continue;
    checkHandler(`the handler of "${event}"`, handler);
    // Called for deliveries of its own event only. Bound, as it may be a method.
    byEvent.set(event, (handler as Handler<JobDelivery>).bind(handlers));
  }
  return byEvent;
}

/** @throws TypeError */
export function checkHandler(name: string, handler: unknown): void {
  if (typeof handler !== "function") throw new TypeError(`createReceiver: ${name} is not a function.`);
  if (/^\[object (Async)?GeneratorFunction\]$/.test(tagOf(handler)))
    throw new TypeError(
      `createReceiver: ${name} is a generator function, and calling it would run nothing. Use an async function.`,
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
