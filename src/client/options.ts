import type { Dispatcher } from "undici";
import { isHttpUrl, isLoopback, normalizeBaseUrl } from "../shared/url";
import type { Clock } from "./clock";
import { WebhookError, type WebhookErrorCode } from "./errors";
import type { OperationName } from "./operation";

/** Options of `WebhooksClient`. An invalid one throws `INVALID_OPTION`. */
export interface WebhooksClientOptions {
  /** Where the API is, such as `https://api.example.com/v1`; `/webhooks` is appended. Plain http only to loopback. */
  readonly baseUrl: string;
  /** The API key. No message, log or error shows it. */
  readonly apiKey: string;
  /** The header that carries the key. Default: `X-Api-Key`. */
  readonly apiKeyHeader?: string | undefined;
  /** The word before the key in the header, such as `Bearer`. Default: none. */
  readonly apiKeyScheme?: string | undefined;
  /** For an operation with its retries, in milliseconds, without pauses that the service asks for and the wait for a turn. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a failed attempt is repeated. Default: 3. Pauses that the service asks for (429, or 503 with `Retry-After`) do
   * not count: after three or more of them in a row, over at least a minute, operations give up. With 0 nothing is repeated.
   */
  readonly maxRetries?: number | undefined;
  /** The number of requests that may be under way at once. Default: 64. */
  readonly maxConcurrency?: number | undefined;
  /** The longest response that is read, in bytes. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** A dispatcher of undici 7 to use instead of one that obeys HTTP_PROXY, HTTPS_PROXY and NO_PROXY. `close()` leaves it open. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Called when a request waits before it is repeated, once for all that share a pause. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** What a client takes from its surroundings. */
export interface ClientEnvironment {
  /** The clock that measures waits and timeouts. */
  readonly clock?: Clock;
  /** Returns a number from 0 up to but not including 1, for the jitter of backoffs. Default: `Math.random`. */
  readonly random?: () => number;
  /** Once it fires, requests that were sent go on, but nothing is sent, waits or is repeated: what would fails with `ABORTED`. */
  readonly cancelled?: AbortSignal | undefined;
}

/** Which request waits, why, and for how long. */
export interface Wait {
  /** The operation that waits. */
  readonly operation: OperationName;
  /** How many attempts have failed so far. */
  readonly attempt: number;
  /** In milliseconds. */
  readonly delayMs: number;
  /** Why it waits. */
  readonly code: WebhookErrorCode;
  /** Absent when there was no response. */
  readonly statusCode?: number | undefined;
}

/** The options, validated and with their defaults. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

const DEFAULT_API_KEY_HEADER = "X-Api-Key";

/** @throws WebhookError `INVALID_OPTION`, which names the option and quotes no value */
export function resolveOptions(options: WebhooksClientOptions) {
  const { apiKey, apiKeyHeader = DEFAULT_API_KEY_HEADER, apiKeyScheme, dispatcher, onWait } = options;
  const [problem] = connectionProblems(options);
  if (problem) throw invalidOption(`${problem.option} ${problem.problem}`);
  if (dispatcher !== undefined && typeof dispatcher.dispatch !== "function")
    throw invalidOption(
      "dispatcher must be one of undici 7, such as its Agent; an agent of node:http is not",
    );
  const limits = { timeoutMs: 30_000, maxRetries: 3, maxConcurrency: 64, maxResponseBytes: 16 * 2 ** 20 };
  for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
    limits[name] = options[name] ?? limits[name];
    const least = name === "maxRetries" ? 0 : 1;
    if (!(limits[name] >= least)) throw invalidOption(`${name} must be a number of at least ${least}`);
  }
  return {
    ...limits,
    baseUrl: normalizeBaseUrl(options.baseUrl),
    apiKeyHeader,
    apiKeyValue: apiKeyScheme === undefined ? apiKey : `${apiKeyScheme} ${apiKey}`,
    dispatcher,
    onWait,
  };
}

/** The options that say where the service is and how to authenticate. */
export type ConnectionOptions = Pick<
  WebhooksClientOptions,
  "baseUrl" | "apiKey" | "apiKeyHeader" | "apiKeyScheme"
>;

/** The syntax of a header's name and of an authentication scheme (RFC 9110). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable ASCII without space around it. */
const KEY = /^[!-~]([ -~]*[!-~])?$/;

/** Returns which of these options are wrong, and of each the rest of a sentence that begins with its name. None quotes a value. */
export function connectionProblems(options: ConnectionOptions) {
  const { baseUrl, apiKey, apiKeyHeader = DEFAULT_API_KEY_HEADER, apiKeyScheme = "Bearer" } = options;
  const problems: [keyof ConnectionOptions, string | false][] = [
    ["baseUrl", baseUrlProblem(baseUrl)],
    ["apiKey", !KEY.test(apiKey ?? "") && "must be non-empty printable ASCII, without space around it"],
    ["apiKeyHeader", !TOKEN.test(apiKeyHeader) && "must name a header, such as X-Api-Key or Authorization"],
    ["apiKeyScheme", !TOKEN.test(apiKeyScheme) && "must be one word, such as Bearer"],
  ];
  return problems.flatMap(([option, problem]) => (problem === false ? [] : [{ option, problem }]));
}

function baseUrlProblem(value: unknown): string | false {
  if (!isHttpUrl(value)) {
    return 'must be an absolute URL that begins with "https://" (or "http://" for this machine)';
  }
  const { username, password, protocol, hostname, pathname } = new URL(value);
  if (username !== "" || password !== "" || /[?#]/.test(value)) {
    return "must not contain a user name or password, a query or a fragment";
  }
  if (/\/webhooks\/*$/.test(pathname)) return "must not end in /webhooks, which each request appends";
  const isExposed = protocol === "http:" && !isLoopback(hostname);
  return isExposed && 'must begin with "https://": plain http would expose the API key on the network';
}

/** Returns the error of a client that cannot be created. */
function invalidOption(problem: string): WebhookError {
  return new WebhookError(`Cannot create a webhooks client: ${problem}`, { code: "INVALID_OPTION" });
}
