import type { Answer } from "./answer";

export type OperationName = "register" | "list" | "get" | "delete";

/** One operation of the API: its request, and how to read the result from the answer. */
export interface Operation<T> {
  readonly name: OperationName;
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the base URL, escaped. */
  readonly path: string;
  readonly body?: string;
  /** Completes the sentence "Cannot …"; holds nothing confidential. */
  readonly description: string;
  /** Returns the result of an operation that succeeded. @throws MalformedAnswer */
  readonly parse: (answer: Answer) => T;
}
