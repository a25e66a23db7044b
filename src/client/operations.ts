import { describeUrl } from "../shared/url";
import { type Answer, MalformedAnswer, parseBody } from "./answer";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import { WebhookError } from "./errors";
import { parseEndpoint, parseList } from "./parse";

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

const COLLECTION = "/webhooks";

export function registerOperation({ url, type, ip }: Registration): Operation<Endpoint> {
  return {
    name: "register",
    method: "POST",
    path: COLLECTION,
    body: JSON.stringify({ url, type, ip }),
    description: `register a webhook endpoint for ${describeUrl(url)} (${type})`,
    parse: ({ body }) => parseEndpoint(parseBody(body)),
  };
}

export function listOperation(): Operation<EndpointList> {
  return {
    name: "list",
    method: "GET",
    path: COLLECTION,
    description: "list the webhook endpoints",
    parse: ({ body, headers }) => parseList(parseBody(body), headers),
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function getOperation(id: string): Operation<Endpoint> {
  return {
    ...forOne("get", "GET", id),
    parse: ({ body }) => {
      const endpoint = parseEndpoint(parseBody(body));
      if (endpoint.id !== id) throw new MalformedAnswer("its id is not the one that was asked for");
      return endpoint;
    },
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function deleteOperation(id: string): Operation<void> {
  return { ...forOne("delete", "DELETE", id), parse: () => {} };
}

function forOne<Name extends OperationName, Method extends string>(name: Name, method: Method, id: string) {
  const description = `${name} webhook endpoint ${JSON.stringify(id)}`;
  // URL resolution would turn "." and ".." into another path, and an empty id would be the path of all endpoints.
  // A program in another language may pass what is no string.
  if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
    const problem = "this is not a valid id. Pass the id that the service returned";
    throw new WebhookError(`Cannot ${description}: ${problem}`, { code: "INVALID_ARGUMENT" });
  }
  return { name, method, path: `${COLLECTION}/${encodeURIComponent(id)}`, description };
}
