import type { IncomingHttpHeaders } from "node:http";
import { isEndpointType } from "../shared/endpointType";
import { isRecord } from "../shared/json";
import { isAddressOrRange, isHttpUrl } from "../shared/url";
import type { Operation } from "./faults";
import type { EmulatedResponse } from "./http";
import type { Parts } from "./options";
import type { EmulatedEndpoint, EndpointInput } from "./registry";

const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ["POST /webhooks", "register"],
  ["GET /webhooks", "list"],
  ["GET /webhooks/{id}", "get"],
  ["DELETE /webhooks/{id}", "delete"],
]);

/** Finds the operation that a request asks for, null if the service has none such. @throws URIError for an id that is not percent-encoded well */
export function routeOf(method: string, target: string) {
  const [path = ""] = target.split("?", 1);
  const [, id = ""] = /^\/webhooks\/([^/]+)$/.exec(path) ?? [];
  const operation = OPERATIONS.get(`${method} ${id === "" ? path : "/webhooks/{id}"}`) ?? null;
  return { operation, id: decodeURIComponent(id) };
}

/** Returns the account whose API key a request carries. */
export function accountOf(headers: IncomingHttpHeaders, keys: Parts["keys"]): string | undefined {
  const { "x-api-key": key, authorization = "" } = headers;
  return keys.get(String(key ?? authorization.replace(/^\S+ /, "")));
}

/** Performs a request of an account to the management API, and returns the response. */
export function perform(
  { registry, now, lagMs }: Parts,
  { operation, id }: ReturnType<typeof routeOf>,
  account: string | null,
  body: unknown,
): EmulatedResponse {
  if (operation === null) return refusal(404, "not_found", "There is nothing at this path for this method.");
  if (account === null)
    return refusal(401, "unauthorized", "A valid API key is required, as X-Api-Key: <key>.");
  if (operation === "register") {
    const validated = validateRegistration(body);
    if ("problem" in validated) return refusal(400, "invalid_request", validated.problem);
    const { id, url, type } = registry.add(account, validated.input);
    return { status: 201, body: { id, url, type } };
  }
  if (operation === "list") {
    const isListed = (each: EmulatedEndpoint) => lagMs <= 0 || Date.parse(each.createdAt) + lagMs <= now();
    return { status: 200, body: registry.list(account).filter(isListed).map(shown) };
  }
  const endpoint = registry.get(account, id);
  if (endpoint === undefined) return refusal(404, "not_found", "No endpoint has this id.");
  if (operation === "get") return { status: 200, body: shown(endpoint) };
  registry.remove(id);
  return { status: 204 };
}

export function refusal(status: number, error: string, message: string): EmulatedResponse {
  return { status, body: { error, message } };
}

/** Returns an endpoint as list and get show it: without `ip`, which the service never returns. */
function shown({ id, url, type, createdAt, updatedAt }: EmulatedEndpoint) {
  return { id, url, type, createdAt, updatedAt };
}

/** Returns the body of a registration, or why the service refuses it. Unknown members are ignored. */
export function validateRegistration(
  body: unknown,
): { readonly input: EndpointInput } | { readonly problem: string } {
  if (!isRecord(body)) return { problem: "The body must be a JSON object with url and type." };
  const { url, type, ip } = body;
  if (!isHttpUrl(url)) return { problem: "url must be an absolute http or https URL." };
  if (!isEndpointType(type)) return { problem: 'type must be "production" or "development".' };
  if (ip === undefined) return { input: { url, type } };
  if (!isAddressOrRange(ip)) return { problem: "ip must be an IPv4 or IPv6 address or a CIDR range." };
  return { input: { url, type, ip } };
}
