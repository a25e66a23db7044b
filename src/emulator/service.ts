import type { IncomingHttpHeaders } from "node:http";
import { type EmulatedEndpoint, validateRegistration } from "./endpoint";
import type { Keys } from "./keys";
import { type Listing, listAnswer } from "./listing";
import type { RateLimiter } from "./rateLimiter";
import type { Registry } from "./registry";
import { type Answer, refusal } from "./respond";
import type { Route } from "./route";

interface ServiceOptions {
  readonly keys: Keys;
  readonly registry: Registry;
  readonly listing: Listing;
  readonly rateLimiter: RateLimiter | undefined;
}

/** The management API without HTTP: performs a parsed request and returns the answer. */
export class Service {
  constructor(private readonly options: ServiceOptions) {}

  perform(route: Route, headers: IncomingHttpHeaders, body: unknown): Answer {
    const { keys, rateLimiter } = this.options;
    if (route.operation === null && route.allow === undefined) {
      return refusal(404, "not_found", "There is nothing at this path.");
    }
    const account = keys.accountOf(headers);
    if (account === undefined) {
      return refusal(401, "unauthorized", `A valid API key is required, as ${keys.place}.`);
    }
    const waitMs = rateLimiter?.take(account) ?? 0;
    if (waitMs > 0) {
      const retryAfter = String(Math.max(1, Math.ceil(waitMs / 1000)));
      return refusal(429, "rate_limited", "Too many requests.", { "retry-after": retryAfter });
    }
    return this.#operate(account, route, body);
  }

  #operate(account: string, route: Route, body: unknown): Answer {
    const { registry, listing } = this.options;
    const { operation, id = "", path, query } = route;
    switch (operation) {
      case "register":
        return this.#register(account, body);
      case "list":
        return listAnswer(registry.list(account).map(shown), listing, { path, cursor: query.get("cursor") });
      case "get": {
        const endpoint = registry.get(account, id);
        return endpoint === undefined ? unknownId() : { status: 200, body: shown(endpoint) };
      }
      case "delete":
        return registry.remove(account, id) ? { status: 204 } : unknownId();
      case null:
        return refusal(405, "method_not_allowed", `This path supports ${route.allow}.`, {
          allow: route.allow,
        });
    }
  }

  #register(account: string, body: unknown): Answer {
    const validated = validateRegistration(body);
    if ("problem" in validated) return refusal(400, "invalid_request", validated.problem);
    const { id, url, type } = this.options.registry.add(account, validated.input);
    return { status: 201, body: { id, url, type } };
  }
}

/** Returns an endpoint as list and get show it: without `ip`, which the service never returns. */
function shown({ id, url, type, createdAt, updatedAt }: EmulatedEndpoint) {
  return { id, url, type, createdAt, updatedAt };
}

function unknownId(): Answer {
  return refusal(404, "not_found", "No endpoint has this id.");
}
