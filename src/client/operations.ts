import { describeUrl } from "../shared/url";
import { type Answer, MalformedAnswer, parseBody } from "./answer";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import { WebhookError } from "./errors";
import type { OperationName } from "./options";
import { parseEndpoint, parseList } from "./parse";

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
    parse: ({ body, headers }) => parseEndpoint(parseBody(body, headers)),
  };
}

export function listOperation(): Operation<EndpointList> {
  return {
    name: "list",
    method: "GET",
    path: COLLECTION,
    description: "list the webhook endpoints",
    parse: ({ body, headers }) => parseList(parseBody(body, headers), headers),
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function getOperation(id: string): Operation<Endpoint> {
  return {
    name: "get",
    method: "GET",
    path: pathOf(id, "get"),
    description: `get webhook endpoint ${JSON.stringify(id)}`,
    parse: ({ body, headers }) => {
      const endpoint = parseEndpoint(parseBody(body, headers));
      if (endpoint.id !== id) throw new MalformedAnswer("its id is not the one that was asked for");
      return endpoint;
    },
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function deleteOperation(id: string): Operation<void> {
  return {
    name: "delete",
    method: "DELETE",
    path: pathOf(id, "delete"),
    description: `delete webhook endpoint ${JSON.stringify(id)}`,
    parse: () => {},
  };
}

/**
 * Returns the path of one endpoint. `.` and `..` are refused as ids: URL resolution would turn them into another path. So is
 * an empty one, which would be the path of all endpoints.
 */
function pathOf(id: string, verb: string): string {
  if (typeof id === "string" && id !== "" && id !== "." && id !== "..") {
    return `${COLLECTION}/${encodeURIComponent(id)}`;
  }
  throw new WebhookError(
    `Cannot ${verb} a webhook endpoint: ${JSON.stringify(id)} is not a valid id. Pass the id that the service returned. Nothing was sent`,
    { code: "INVALID_ARGUMENT" },
  );
}
