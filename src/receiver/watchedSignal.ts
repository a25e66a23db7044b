const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Bun and Deno read a signal's state without its properties, so there, whoever has the signal counts as watching it. */
const SHOWS_ITS_USE = process.versions.bun === undefined && process.versions.deno === undefined;

/**
 * Creates the controller of an AbortSignal that reports its first use: a listener, a look at `aborted` or `reason`, or being passed to
 * something that has to do one of these, such as `fetch` or `AbortSignal.any`. Copying, printing and serializing it are no uses.
 */
export function watchedController(onUse: () => void): AbortController {
  const controller = new AbortController();
  const { signal } = controller;
  if (!SHOWS_ITS_USE) onUse();
  else {
    for (const name of ["aborted", "reason", "onabort"] as const) defineAccessor(signal, name, onUse);
    for (const name of ["addEventListener", "throwIfAborted"] as const) defineMethod(signal, name, onUse);
    const inspect = () => `AbortSignal { aborted: ${Reflect.get(AbortSignal.prototype, "aborted", signal)} }`;
    Object.defineProperty(signal, INSPECT, { value: inspect });
  }
  return controller;
}

function defineAccessor(signal: AbortSignal, name: keyof AbortSignal, onUse: () => void): void {
  Object.defineProperty(signal, name, {
    get() {
      onUse();
      return Reflect.get(AbortSignal.prototype, name, signal);
    },
    set(value: unknown) {
      onUse();
      Reflect.set(AbortSignal.prototype, name, value, signal);
    },
  });
}

function defineMethod(signal: AbortSignal, name: "addEventListener" | "throwIfAborted", onUse: () => void) {
  const method = AbortSignal.prototype[name];
  const value = (...args: unknown[]) => {
    onUse();
    return Reflect.apply(method, signal, args);
  };
  Object.defineProperty(signal, name, { value });
}
