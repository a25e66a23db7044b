import { CodedError } from "../error";

/** Something did not settle in time. */
export class DeadlineError extends CodedError<"HANDLER_DEADLINE"> {
  override readonly name = "DeadlineError";

  constructor(reason: string) {
    super("HANDLER_DEADLINE", reason);
  }
}

/**
 * Settles as the work does, or rejects when it takes longer. The work goes on: nobody is told when it settles later.
 * @throws DeadlineError
 */
export async function within<T>(milliseconds: number, what: string, work: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fail = () => reject(new DeadlineError(`${what} took longer than ${milliseconds} ms.`));
    timer = setTimeout(fail, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
