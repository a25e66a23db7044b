import type { Call } from "./call";
import type { Endpoint, EndpointList, Registration } from "./endpoint";
import { MalformedAnswer, parseJson } from "./json";
import { parseEndpoint } from "./parseEndpoint";
import { parseList } from "./parseList";
import { listContext } from "./responseHeaders";
import { WebhookError } from "./webhookError";
import { WebhookRegistrationError } from "./webhookRegistrationError";

const collection = "/webhooks";

/** @throws WebhookRegistrationError `INVALID_ARGUMENT` */
export function registerCall(registration: Registration): Call<Endpoint> {
  const problem = problemOf(registration);
  if (problem !== undefined) {
    throw new WebhookRegistrationError(`Cannot register a webhook endpoint: ${problem}. Nothing was sent`, {
      code: "INVALID_ARGUMENT",
      outcome: "not-made",
    });
  }
  const { url, type, ip } = registration;
  return {
    operation: "register",
    method: "POST",
    path: collection,
    body: JSON.stringify({ url, type, ip }),
    doing: `register a webhook endpoint for ${originOf(url)} (${type})`,
    read: ({ body }) => parseEndpoint(parseJson(body)),
  };
}

export function listCall(): Call<EndpointList> {
  return {
    operation: "list",
    method: "GET",
    path: collection,
    doing: "list the webhook endpoints",
    read: ({ body, headers }) => parseList(parseJson(body), listContext(headers)),
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function getCall(id: string): Call<Endpoint> {
  return {
    operation: "get",
    method: "GET",
    path: pathOf(id, "get"),
    doing: `get webhook endpoint ${JSON.stringify(id)}`,
    read: ({ body }) => {
      const endpoint = parseEndpoint(parseJson(body));
      if (endpoint.id !== id) throw new MalformedAnswer("it is another endpoint than the one asked for");
      return endpoint;
    },
  };
}

/** @throws WebhookError `INVALID_ARGUMENT` */
export function deleteCall(id: string): Call<void> {
  return {
    operation: "delete",
    method: "DELETE",
    path: pathOf(id, "delete"),
    doing: `delete webhook endpoint ${JSON.stringify(id)}`,
    read: () => {},
    alreadyDone: () => {},
  };
}

function problemOf(registration: Registration): string | undefined {
  if (typeof registration !== "object" || registration === null) return "it takes { url, type, ip? }";
  const { url, type, ip }: Record<keyof Registration, unknown> = { ip: undefined, ...registration };
  if (typeof url !== "string" || url === "") return "url must be a text that is not empty";
  if (type !== "production" && type !== "development") return 'type must be "production" or "development"';
  if (ip !== undefined && (typeof ip !== "string" || ip === ""))
    return "ip must be a text that is not empty, or left out";
  return undefined;
}

/** The path of one endpoint. `.` and `..` are no ids: on its way a path is resolved, and would lead elsewhere. */
function pathOf(id: unknown, doing: string): string {
  if (typeof id === "string" && id !== "" && id !== "." && id !== "..") {
    try {
      return `${collection}/${encodeURIComponent(id)}`;
    } catch {
      // Half a surrogate pair: no text.
    }
  }
  throw new WebhookError(
    `Cannot ${doing} a webhook endpoint: ${JSON.stringify(id)} is no id. Pass the one that the service gave. Nothing was sent`,
    {
      code: "INVALID_ARGUMENT",
    },
  );
}

/** As much of a webhook's url as a message may show: its path or query may hold a token. */
function originOf(url: string): string {
  if (!URL.canParse(url)) return "a url that cannot be read";
  const { protocol, host } = new URL(url);
  return host === "" ? `a url of the scheme ${protocol}` : `${protocol}//${host}`;
}
