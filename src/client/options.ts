import type { Dispatcher } from "undici";
import { unknownOptions } from "../shared/knownOptions";
import { hostMistake, isHttpUrl, isLoopback } from "../shared/url";
import { WebhookError, type WebhookErrorCode } from "./errors";

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
  /**
   * The longest that an operation may take, retries included, in milliseconds. Waiting for a turn and pauses that the
   * service asks for are not counted. Default: 30,000. One attempt takes 10,000 at most.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a failed attempt is repeated. Default: 3. Pauses that the service asks for (429, or 503 with `Retry-After`)
   * are not counted: operations give up when the service asked for three or more in a row, over a minute or longer, and let
   * no request of this client through. With 0 nothing is repeated, for any reason.
   */
  readonly maxRetries?: number | undefined;
  /** The number of requests that may be under way at once. Default: 64. */
  readonly maxConcurrency?: number | undefined;
  /** The longest response that is read, in bytes. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** A dispatcher of undici 7 to use instead of one that obeys HTTP_PROXY, HTTPS_PROXY and NO_PROXY. `close()` leaves it open. */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * Called when a request must wait before it is repeated, and when the service asks for a pause: once for all requests that
   * share the pause. Errors that it throws are ignored.
   */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** Why a request waits, and for how long. */
export interface Wait {
  /** The operation that waits. */
  readonly operation: OperationName;
  /** How many attempts have failed so far. */
  readonly attempt: number;
  /** How long it waits, in milliseconds. */
  readonly delayMs: number;
  /** Why it waits. */
  readonly code: WebhookErrorCode;
  /** Absent when there was no response. */
  readonly statusCode?: number;
}

export type OperationName = "register" | "list" | "get" | "delete";

/** The options, validated and with their defaults. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

export const DEFAULT_API_KEY_HEADER = "X-Api-Key";

/** A token of RFC 9110: the syntax of a header's name and of an authentication scheme. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Headers that frame a request: a key in one of them would break the request, or be sent elsewhere. */
const RESERVED_HEADER =
  /^(accept|connection|content-.*|cookie|date|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|via)$/i;
/** A valid header value: no control characters, nothing beyond Latin-1, no space around it. */
const HEADER_VALUE = /^[\x21-\x7e\xa0-\xff]([\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/;

/** The default of each limit, and the least and the most that it may be. */
const LIMITS = {
  // A day: far below the longest delay of a timer.
  timeoutMs: [30_000, 1, 86_400_000],
  maxRetries: [3, 0, 100],
  maxConcurrency: [64, 1, 10_000],
  maxResponseBytes: [16 * 2 ** 20, 1, 2 ** 29],
} as const;

const OPTIONS = [
  ...["baseUrl", "apiKey", "apiKeyHeader", "apiKeyScheme", "dispatcher", "onWait"],
  ...Object.keys(LIMITS),
];

/** @throws WebhookError `INVALID_OPTION`, which names the option and quotes no value */
export function resolveOptions(options: WebhooksClientOptions) {
  const { apiKey, apiKeyHeader = DEFAULT_API_KEY_HEADER, apiKeyScheme, dispatcher, onWait } = options;
  const [unknown] = unknownOptions(options, OPTIONS, "an option of WebhooksClient");
  if (unknown !== undefined) throw invalid(unknown);
  const [problem] = connectionProblems(options);
  if (problem) throw invalid(`${problem.option} ${problem.problem}`);
  const limit = (name: keyof typeof LIMITS): number => {
    const [fallback, least, most] = LIMITS[name];
    const value: unknown = options[name] ?? fallback;
    if (typeof value === "number" && value >= least && value <= most) return value;
    throw invalid(`${name} must be a number from ${least} to ${most}`);
  };
  return {
    baseUrl: new URL(options.baseUrl.replace(/\/+$/, "")),
    apiKeyHeader,
    apiKeyValue: apiKeyScheme === undefined ? apiKey : `${apiKeyScheme} ${apiKey}`,
    timeoutMs: limit("timeoutMs"),
    maxRetries: limit("maxRetries"),
    maxConcurrency: limit("maxConcurrency"),
    maxResponseBytes: limit("maxResponseBytes"),
    dispatcher,
    onWait,
  };
}

/** The options that say where the service is and how to authenticate. */
export type ConnectionOptions = Pick<
  WebhooksClientOptions,
  "baseUrl" | "apiKey" | "apiKeyHeader" | "apiKeyScheme"
>;

export interface ConnectionProblem {
  readonly option: keyof ConnectionOptions;
  /** Completes a sentence that begins with the option's name, and does not quote its value. */
  readonly problem: string;
}

/** Returns what is wrong with each of these options. */
export function connectionProblems(options: ConnectionOptions): readonly ConnectionProblem[] {
  const { baseUrl, apiKey, apiKeyHeader = DEFAULT_API_KEY_HEADER, apiKeyScheme = "Bearer" } = options;
  const isHeader = TOKEN.test(apiKeyHeader) && !RESERVED_HEADER.test(apiKeyHeader);
  const problems: [keyof ConnectionOptions, string | false][] = [
    ["baseUrl", baseUrlProblem(baseUrl)],
    ["apiKey", apiKeyProblem(apiKey)],
    [
      "apiKeyHeader",
      !isHeader && "must name a header that can carry a key, such as X-Api-Key or Authorization",
    ],
    ["apiKeyScheme", !TOKEN.test(apiKeyScheme) && "must be one word, such as Bearer"],
  ];
  return problems.flatMap(([option, problem]) => (problem === false ? [] : [{ option, problem }]));
}

function apiKeyProblem(apiKey: unknown): string | false {
  if (typeof apiKey !== "string" || apiKey === "") return "must be a non-empty string";
  if (HEADER_VALUE.test(apiKey)) return false;
  return "has a line break, white space around it or a character that HTTP headers cannot carry";
}

function baseUrlProblem(value: unknown): string | false {
  if (!isHttpUrl(value)) {
    return 'must be an absolute URL that begins with "https://" (or "http://" for this machine)';
  }
  const url = new URL(value);
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password; the API key is a separate setting";
  }
  if (/[?#]/.test(value)) return "must not contain a query or a fragment";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return 'must begin with "https://": plain http would expose the API key on the network';
  }
  return hostMistake(value) ?? false;
}

function invalid(problem: string): WebhookError {
  return new WebhookError(`Cannot create a webhooks client: ${problem}`, { code: "INVALID_OPTION" });
}
