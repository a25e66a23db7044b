import type { Operation } from "./fault";

/** The target of a request. `operation` is null when the service has no such path or method. */
export interface Route {
  readonly operation: Operation | null;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly id?: string;
  /** The methods that this path supports, set when the request used another one. */
  readonly allow?: string;
}

const COLLECTION: Readonly<Record<string, Operation>> = { POST: "register", GET: "list" };
const ITEM: Readonly<Record<string, Operation>> = { GET: "get", DELETE: "delete" };

/** Finds the operation that a method and request target ask for. */
export function routeOf(method: string, target: string, basePath: string): Route {
  const [path = "", query = ""] = target.split("?", 2);
  const base = { path, query: new URLSearchParams(query), operation: null };
  const collection = `${basePath}/webhooks`;
  if (path === collection) return resolve(base, COLLECTION, method);
  const id = path.startsWith(`${collection}/`) ? decoded(path.slice(collection.length + 1)) : undefined;
  return id === undefined ? base : { ...resolve(base, ITEM, method), id };
}

function resolve(base: Route, methods: Readonly<Record<string, Operation>>, method: string): Route {
  const operation = Object.hasOwn(methods, method) ? methods[method] : undefined;
  return operation === undefined
    ? { ...base, allow: Object.keys(methods).join(", ") }
    : { ...base, operation };
}

function decoded(segment: string): string | undefined {
  if (segment === "" || segment.includes("/")) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
