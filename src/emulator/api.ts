import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../shared/json";
import { isAddressOrRange, isHttpUrl } from "../shared/url";
import { EmulatorError } from "./errors";
import type { Operation } from "./faults";
import type { Answer } from "./http";
import type { EmulatedEndpoint, EndpointInput, Registry } from "./registry";

/** The target of a request. `operation` is null when the service has no such path or method. */
export interface Route {
  readonly operation: Operation | null;
  readonly id?: string;
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ["POST /webhooks", "register"],
  ["GET /webhooks", "list"],
  ["GET /webhooks/{id}", "get"],
  ["DELETE /webhooks/{id}", "delete"],
]);

/** Finds the operation that a method and request target ask for. */
export function routeOf(method: string, target: string): Route {
  const [path = ""] = target.split("?", 1);
  const [, segment] = /^\/webhooks\/([^/]+)$/.exec(path) ?? [];
  const operation = OPERATIONS.get(`${method} ${segment === undefined ? path : "/webhooks/{id}"}`) ?? null;
  return segment === undefined ? { operation } : { operation, id: decoded(segment) };
}

/** An id that is not percent-encoded well is the id of no endpoint. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

interface KeyOptions {
  /** API key to account name. */
  readonly accounts: Readonly<Record<string, string>>;
  readonly apiKeyHeader: string;
  readonly apiKeyScheme: string | undefined;
}

/** Maps API keys to accounts, and finds the key in a request. */
export class Keys {
  readonly #accounts: Map<string, string>;

  constructor(private readonly options: KeyOptions) {
    this.#accounts = new Map(Object.entries(options.accounts));
  }

  /** Describes, for an error message, the header that carries the key. */
  get place(): string {
    const { apiKeyHeader: header, apiKeyScheme: scheme } = this.options;
    return scheme === undefined ? `${header}: <key>` : `${header}: ${scheme} <key>`;
  }

  /** @throws EmulatorError when no key opens the account */
  checkAccount(account: string): void {
    const known = [...new Set(this.#accounts.values())];
    if (known.includes(account)) return;
    const message = `Cannot add an endpoint to account ${account}: no API key opens it. Known accounts: ${known.join(", ")}.`;
    throw new EmulatorError("EMULATOR_ARGUMENT", message);
  }

  accountOf(headers: IncomingHttpHeaders): string | undefined {
    const { apiKeyHeader: header, apiKeyScheme: scheme } = this.options;
    const value = headers[header.toLowerCase()];
    if (typeof value !== "string") return undefined;
    if (scheme === undefined) return this.#accounts.get(value);
    const [first = "", ...rest] = value.split(" ");
    const isScheme = first.toLowerCase() === scheme.toLowerCase();
    return isScheme ? this.#accounts.get(rest.join(" ").trimStart()) : undefined;
  }

  /** Replaces a key. The old one stops working at once. @throws EmulatorError when either key is unusable */
  rotate(oldKey: string, newKey: string): void {
    const account = this.#accounts.get(oldKey);
    const isTaken = newKey === "" || (newKey !== oldKey && this.#accounts.has(newKey));
    if (account === undefined || isTaken)
      throw new EmulatorError(
        "EMULATOR_ARGUMENT",
        "Cannot rotate an API key: the old one is unknown, or the new one is empty or in use.",
      );
    this.#accounts.delete(oldKey);
    this.#accounts.set(newKey, account);
  }
}

interface ServiceOptions {
  readonly keys: Keys;
  readonly registry: Registry;
  readonly now: () => number;
  /** How long a list leaves out a new endpoint, in milliseconds. */
  readonly lagMs: number;
}

/** Performs a parsed request to the management API, and returns the answer. */
export function perform(
  { keys, registry, now, lagMs }: ServiceOptions,
  { operation, id = "" }: Route,
  headers: IncomingHttpHeaders,
  body: unknown,
): Answer {
  if (operation === null) return refusal(404, "not_found", "There is nothing at this path for this method.");
  const account = keys.accountOf(headers);
  if (account === undefined)
    return refusal(401, "unauthorized", `A valid API key is required, as ${keys.place}.`);
  const unknownId = refusal(404, "not_found", "No endpoint has this id.");
  switch (operation) {
    case "register": {
      const validated = validateRegistration(body);
      if ("problem" in validated) return refusal(400, "invalid_request", validated.problem);
      const { id, url, type } = registry.add(account, validated.input);
      return { status: 201, body: { id, url, type } };
    }
    case "list": {
      const isListed = (each: EmulatedEndpoint) => lagMs <= 0 || Date.parse(each.createdAt) + lagMs <= now();
      return { status: 200, body: registry.list(account).filter(isListed).map(shown) };
    }
    case "get": {
      const endpoint = registry.get(account, id);
      return endpoint === undefined ? unknownId : { status: 200, body: shown(endpoint) };
    }
    case "delete":
      return registry.remove(account, id) ? { status: 204 } : unknownId;
  }
}

export function refusal(status: number, error: string, message: string): Answer {
  return { status, body: { error, message } };
}

/** Returns an endpoint as list and get show it: without `ip`, which the service never returns. */
function shown({ id, url, type, createdAt, updatedAt }: EmulatedEndpoint) {
  return { id, url, type, createdAt, updatedAt };
}

/** Validates the body of a registration, and returns why the service refuses it. Unknown members are ignored. */
export function validateRegistration(
  body: unknown,
): { readonly input: EndpointInput } | { readonly problem: string } {
  if (!isRecord(body)) return { problem: "The body must be a JSON object with url and type." };
  const { url, type, ip } = body;
  if (!isHttpUrl(url)) return { problem: "url must be an absolute http or https URL." };
  if (type !== "production" && type !== "development")
    return { problem: 'type must be "production" or "development".' };
  if (ip === undefined) return { input: { url, type } };
  if (!isAddressOrRange(ip)) return { problem: "ip must be an IPv4 or IPv6 address or a CIDR range." };
  return { input: { url, type, ip } };
}
