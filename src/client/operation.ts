import type { HttpResponse } from "./response";

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
