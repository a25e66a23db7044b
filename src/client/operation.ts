/** The names are in lower case, as undici returns them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP answer, or as much of it as arrived. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Returns the service's time when it answered, in milliseconds since 1970; null without a readable `Date` header. */
export function serverTimeOf({ date }: Headers): number | null {
  const time = Date.parse(String(date));
  return Number.isNaN(time) ? null : time;
}

export type OperationName = "register" | "list" | "get" | "delete";

/** One operation of the API: its request, and how to read the result from the answer. */
export interface Operation<T> {
  readonly name: OperationName;
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly body?: string;
  /** Completes the sentence "Cannot …"; holds nothing confidential. */
  readonly description: string;
  /** Returns the result of an operation that succeeded. @throws Error if the answer breaks the contract */
  readonly parse: (answer: Answer) => T;
}
