/**
 * The base class of every error that this package throws on purpose. Programs tell errors apart by `code`, which is
 * stable and in upper snake case. No message or property holds an API key or a signing secret.
 */
export abstract class CodedError<Code extends string = string> extends Error {
  /** Stable. See `docs/errors.md`. */
  readonly code: Code;
  /** The message without the code at its end, for an error that quotes this one. Not enumerable. */
  declare readonly detail: string;

  constructor(code: Code, detail: string, { cause }: { readonly cause?: unknown } = {}) {
    super(`${detail} (${code})`, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.defineProperty(this, "detail", { value: detail });
  }
}
