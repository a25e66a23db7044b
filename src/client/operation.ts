/** The names are in lower case, as undici returns them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP response, or as much of it as arrived. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Returns the service's time when it responded, in milliseconds since 1970; null without a readable `Date` header. */
export function serverTimeOf({ date }: Headers): number | null {
  const time = Date.parse(String(date));
  return Number.isNaN(time) ? null : time;
}

export type OperationName = "register" | "list" | "get" | "delete";

/** One operation of the API: its request, and how to read the result from the response. */
export interface Operation<T> {
  readonly name: OperationName;
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly body?: string;
  /** Completes the sentence "Cannot …"; holds nothing confidential. */
  readonly description: string;
  /** Returns the result of an operation that succeeded. @throws Error if the response breaks the contract */
  readonly parse: (response: HttpResponse) => T;
}
