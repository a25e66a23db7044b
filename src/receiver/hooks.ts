import { isThenable } from "./waiting";

/** Calls a hook, which can neither fail nor delay the response. */
export function notify<T>(hook: (value: T) => unknown, value: T): void {
  try {
    const result = hook(value);
    if (isThenable(result)) Promise.resolve(result).catch(() => {});
  } catch {
    // A logger's failure must not change the response.
  }
}
