import timers from "node:timers/promises";

let waits: jest.SpyInstance | undefined;

/**
 * Holds time until the test ends: timers, dates and durations stand still, except where the test lets time pass with
 * `jest.advanceTimersByTime`. Sockets and files work on, so nothing is too late, however slow the machine is.
 */
export function holdTime(): void {
  jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask"] });
  // Jest's timers leave this module alone.
  waits = jest.spyOn(timers, "setTimeout").mockImplementation(
    (milliseconds, value, { signal } = {}) =>
      new Promise((resolve, reject) => {
        setTimeout(resolve, milliseconds, value);
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  );
}

afterEach(() => {
  jest.useRealTimers();
  waits?.mockRestore();
});
