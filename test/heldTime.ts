/**
 * Holds time: timers, dates and durations stand still until the test lets time pass with `jest.advanceTimersByTime`. Sockets and files
 * work on, so nothing is too late, however slow the machine is. `jest.useRealTimers` ends it.
 */
export function holdTime(): void {
  jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask"] });
}
