import { describeUrl } from "../shared/url";
import { type Answer, MalformedAnswer, parseBody } from "./answer";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import { WebhookError, WebhookRegistrationError } from "./errors";
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

/** @throws WebhookRegistrationError `INVALID_ARGUMENT` */
export function registerOperation(registration: Registration): Operation<Endpoint> {
  const problem = registrationProblem(registration);
  if (problem !== undefined) {
    throw new WebhookRegistrationError(`Cannot register a webhook endpoint: ${problem}. Nothing was sent`, {
      code: "INVALID_ARGUMENT",
      outcome: "not-made",
    });
  }
  const { url, type, ip } = registration;
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
    parse: ({ statusCode, body, headers }) => parseList(parseBody(body), headers, statusCode),
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function getOperation(id: string): Operation<Endpoint> {
  return {
    name: "get",
    method: "GET",
    path: pathOf(id, "get"),
    description: `get webhook endpoint ${JSON.stringify(id)}`,
    parse: ({ body }) => {
      const endpoint = parseEndpoint(parseBody(body));
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

function registrationProblem(registration: Registration): string | undefined {
  if (typeof registration !== "object" || registration === null) return "it takes { url, type, ip? }";
  const { url, type, ip }: Record<keyof Registration, unknown> = { ip: undefined, ...registration };
  if (typeof url !== "string" || url === "") return "url must be a non-empty string";
  if (type !== "production" && type !== "development") return 'type must be "production" or "development"';
  if (ip !== undefined && (typeof ip !== "string" || ip === ""))
    return "ip must be a non-empty string, or absent";
  // Without its filter, the endpoint would get deliveries of everybody. Other fields, as of an endpoint that was listed, are not sent.
  const misspelt = Object.keys(registration).find((name) => name !== "ip" && name.toLowerCase() === "ip");
  return misspelt === undefined
    ? undefined
    : `${misspelt} is not a field of a registration (did you mean ip?)`;
}

/** Returns the path of one endpoint. `.` and `..` are refused as ids: URL resolution would turn them into another path. */
function pathOf(id: unknown, verb: string): string {
  if (typeof id === "string" && id !== "" && id !== "." && id !== "..") {
    try {
      return `${COLLECTION}/${encodeURIComponent(id)}`;
    } catch {
      // Half of a surrogate pair, which has no UTF-8 encoding.
    }
  }
  throw new WebhookError(
    `Cannot ${verb} a webhook endpoint: ${JSON.stringify(id)} is not a valid id. Pass the id that the service returned. Nothing was sent`,
    { code: "INVALID_ARGUMENT" },
  );
}
