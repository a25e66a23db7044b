import { createLog } from "../log";
import type { LazyReceiver, Receiver } from "../types";
import { inTime, isThenable } from "../waiting";

/** How long the requests wait for a receiver that is being created. */
const START_TIMEOUT_MS = 10_000;

/**
 * Returns a function that gives an adapter its receiver. If the program passed a function, the first request calls it, and requests that
 * come meanwhile share the call. If it fails or takes too long, the result is undefined, and the next request calls it again.
 * @throws TypeError for anything but a receiver or a function without parameters
 */
export function receiverGetter(
  adapter: string,
  given: Receiver | LazyReceiver,
): () => Receiver | undefined | Promise<Receiver | undefined> {
  if (typeof given !== "function") {
    const receiver = checked(adapter, given);
    return () => receiver;
  }
  // Such as a request's handler, or createReceiver itself.
  if (given.length > 0) throw noReceiver(adapter);
  const create = given;
  const log = createLog();
  let receiver: Receiver | undefined;
  let starting: Promise<Receiver | undefined> | undefined;
  // Also what comes too late is used: a second one would connect its clients again.
  const keep = (created: Receiver): Receiver => (receiver ??= checked(adapter, created));

  async function start(): Promise<Receiver | undefined> {
    try {
      const created = create();
      if (!isThenable(created)) return keep(created);
      return await inTime("Creating the receiver", START_TIMEOUT_MS, Promise.resolve(created).then(keep));
    } catch (error) {
      log(
        "start",
        `${adapter}: the receiver could not be created, so the response is 503. The next request tries again.`,
        { details: [error] },
      );
      return undefined;
    }
  }

  return () => {
    if (receiver !== undefined) return receiver;
    // In Cloudflare Workers, what a request started may never end: then it takes too long, and the next one starts anew.
    starting ??= start().finally(() => {
      starting = undefined;
    });
    return starting;
  };
}

function checked(adapter: string, receiver: Receiver): Receiver {
  if (typeof receiver?.handle === "function") return receiver;
  throw noReceiver(adapter);
}

function noReceiver(adapter: string): TypeError {
  return new TypeError(
    `${adapter} did not get a receiver. Pass what createReceiver returns, await receiverFromStack first, or pass a function without ` +
      "parameters: () => createReceiver(options).",
  );
}
