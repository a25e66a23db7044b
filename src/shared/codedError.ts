import { messageLine } from "./escape";

/**
 * Where an exported class keeps its name, so that `instanceof` recognizes the errors of another copy of this package: a program may load
 * both module formats. The name of the function itself won't do, because minifiers change it.
 */
export const KIND = Symbol.for("pulumi-webhook-endpoints.error");

/**
 * The base class of every error that this package throws on purpose. Programs tell errors apart by `code`, which is
 * stable and in upper snake case. No message or property holds an API key or a signing secret.
 */
export abstract class CodedError<Code extends string = string> extends Error {
  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: it is the class on the right of `instanceof`.
    return isInstance(this, value);
  }

  /** Stable. See `docs/errors.md`. */
  readonly code: Code;
  /** The message without the code at its end, for an error that quotes this one. Not enumerable. */
  declare readonly detail: string;

  /** @param ways what the user can do, each on a line of its own. The lines are made here, so that no value can begin one */
  constructor(code: Code, message: string, { cause, ways = [] }: CodedErrorOptions = {}) {
    const shown = [message, ...ways.map((way) => `- ${way}`)].map(messageLine).join("\n");
    super(`${shown} (${code})`, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.defineProperty(this, "detail", { value: shown });
  }
}

interface CodedErrorOptions {
  readonly cause?: unknown;
  readonly ways?: readonly string[];
}

function isInstance(expected: object, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(expected, value)) return true;
  const kind = Object.getOwnPropertyDescriptor(expected, KIND)?.value;
  if (kind === undefined || !(value instanceof Error)) return false;
  for (let each: unknown = value.constructor; typeof each === "function"; each = Object.getPrototypeOf(each))
    if (Reflect.get(each, KIND) === kind) return true;
  return false;
}
