import type { Answer } from "./exchange";
import type { OperationName } from "./options";

/** One operation of the API as the machinery that sends it sees it. */
export interface Call<T> {
  readonly operation: OperationName;
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the base URL, escaped. */
  readonly path: string;
  readonly body?: string;
  /** What is being done, to finish "Cannot …" with; holds nothing confidential. */
  readonly doing: string;
  /** The result, out of a 2xx. @throws MalformedAnswer */
  readonly read: (answer: Answer) => T;
  /** The result when a 404 means that an earlier attempt worked; absent where it never does. */
  readonly alreadyDone?: () => T;
}
