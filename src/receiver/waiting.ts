/**
 * Settles as the work does, or rejects if it takes longer. The work goes on.
 * @param what what takes long, such as "The dedupe store"
 */
// Not Promise.race, which costs several promises more for each delivery.
export function inTime<T>(what: string, milliseconds: number, work: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopTimer = startTimer(milliseconds, () =>
      reject(new Error(`${what} took longer than ${milliseconds} ms.`)),
    );
    void Promise.resolve(work).then(resolve, reject).then(stopTimer);
  });
}

/**
 * Calls back later, and returns how to prevent it. Most of what is timed here ends in the same turn of the event loop: then an
 * immediate is all that it costs, a third of a timer.
 */
export function startTimer(milliseconds: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  setImmediate(() => {
    if (!isStopped) timer = setTimeout(callback, milliseconds);
  });
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Whether a value can be awaited. Await it once: a query builder's `then` starts its query each time. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  const canHaveThen = (typeof value === "object" && value !== null) || typeof value === "function";
  return canHaveThen && typeof (value as { then?: unknown }).then === "function";
}
