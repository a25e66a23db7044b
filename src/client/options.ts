import type { Dispatcher } from "undici";
import { baseUrlProblem, parseBaseUrl } from "./baseUrl";
import type { WebhookErrorCode } from "./webhookError";
import { WebhookError } from "./webhookError";

export interface WebhooksClientOptions {
  /** Where the API is, such as `https://api.example.com/v1`; `/webhooks` is appended. Plain http only to loopback. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The header that carries the key. Default: `X-Api-Key`. */
  readonly apiKeyHeader?: string | undefined;
  /** What stands before the key in the header, such as `Bearer`. Default: nothing. */
  readonly apiKeyScheme?: string | undefined;
  /**
   * For an operation with its retries, in milliseconds; waiting for a turn and for what the service asked to wait is not
   * counted. Default: 30,000. One attempt takes at most 10,000 of them.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often an attempt that failed is repeated. Default: 3. Waits that the service asked for (429, or 503 with
   * `Retry-After`) are not counted: an operation is given up when it was told to wait ten times, or when ten such
   * answers in a row let nothing of this client through. With 0 nothing is repeated, whatever the reason.
   */
  readonly maxRetries?: number | undefined;
  /** How many requests may be under way at once. Default: 64. */
  readonly maxConcurrency?: number | undefined;
  /** The longest response that is read, in bytes. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** undici's way to the network, instead of one that obeys HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Not closed by `close()`. */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * Called when a request is put off before it is repeated; for a pause that the service asked for, once for all the
   * requests that share it. What it throws is ignored.
   */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** Why a request is put off, and for how long. */
export interface Wait {
  readonly operation: OperationName;
  /** How many attempts have failed so far. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly code: WebhookErrorCode;
  /** Absent when there was no response. */
  readonly statusCode?: number;
}

export type OperationName = "register" | "list" | "get" | "delete";

/** The options, checked and with their defaults. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

/** A token of RFC 9110: what a header's name and an authentication scheme consist of. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;
/** Headers that frame a request: a key in one of them would break it, or go elsewhere. */
const reserved =
  /^(accept|connection|content-.*|cookie|date|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|via)$/i;
/** What fits into a header's value as it stands: no control character, nothing beyond Latin-1, no space around it. */
const headerValue = /^[\x21-\x7e\xa0-\xff]([\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/;

/** @throws WebhookError `INVALID_OPTION`, which names the option and repeats no value. */
export function resolveOptions(options: WebhooksClientOptions) {
  if (typeof options !== "object" || options === null) throw invalid("its options must be an object");
  const { apiKey, apiKeyHeader = "X-Api-Key", apiKeyScheme, dispatcher, onWait } = options;
  const [problem] = connectionProblems(options);
  if (problem) throw invalid(`${problem.option} ${problem.problem}`);
  if (dispatcher !== undefined && typeof dispatcher?.dispatch !== "function") {
    throw invalid("dispatcher must be an undici Dispatcher");
  }
  if (onWait !== undefined && typeof onWait !== "function") throw invalid("onWait must be a function");
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    apiKeyHeader,
    apiKeyValue: apiKeyScheme === undefined ? apiKey : `${apiKeyScheme} ${apiKey}`,
    // A day: far below what a timer can hold.
    timeoutMs: number(options, "timeoutMs", { fallback: 30_000, least: 1, most: 86_400_000 }),
    maxRetries: integer(options, "maxRetries", { fallback: 3, least: 0, most: 100 }),
    maxConcurrency: integer(options, "maxConcurrency", { fallback: 64, least: 1, most: 10_000 }),
    maxResponseBytes: integer(options, "maxResponseBytes", {
      fallback: 16 * 2 ** 20,
      least: 1,
      most: 2 ** 29,
    }),
    dispatcher,
    onWait,
  };
}

/** The options that say where the service is and how to speak to it. */
export type ConnectionOptions = Pick<
  WebhooksClientOptions,
  "baseUrl" | "apiKey" | "apiKeyHeader" | "apiKeyScheme"
>;

/** What is wrong with an option, as the end of a sentence that begins with its name and does not repeat its value. */
export interface ConnectionProblem {
  readonly option: keyof ConnectionOptions;
  readonly problem: string;
}

/** Everything that is wrong with these options. */
export function connectionProblems(options: ConnectionOptions): readonly ConnectionProblem[] {
  const problems: Record<keyof ConnectionOptions, string | undefined> = {
    baseUrl: baseUrlProblem(options.baseUrl),
    apiKey: apiKeyProblem(options.apiKey),
    apiKeyHeader: isKeyHeader(options.apiKeyHeader ?? "X-Api-Key")
      ? undefined
      : "must name a header that can carry a key, such as X-Api-Key or Authorization",
    apiKeyScheme: isToken(options.apiKeyScheme ?? "Bearer") ? undefined : "must be one word, such as Bearer",
  };
  const names = Object.keys(problems) as (keyof ConnectionOptions)[];
  return names.flatMap((option) => {
    const problem = problems[option];
    return problem === undefined ? [] : [{ option, problem }];
  });
}

function apiKeyProblem(apiKey: unknown): string | undefined {
  if (typeof apiKey !== "string" || apiKey === "") return "must be a text that is not empty";
  if (headerValue.test(apiKey)) return undefined;
  return "has a line break, white space around it or a character that no header can carry";
}

function isToken(value: unknown): boolean {
  return typeof value === "string" && token.test(value);
}

function isKeyHeader(value: unknown): boolean {
  return isToken(value) && !reserved.test(String(value));
}

type NumberName = "timeoutMs" | "maxRetries" | "maxConcurrency" | "maxResponseBytes";
type Range = { readonly fallback: number; readonly least: number; readonly most: number };

function number(options: WebhooksClientOptions, name: NumberName, { fallback, least, most }: Range): number {
  const value: unknown = options[name] ?? fallback;
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw invalid(`${name} must be a number from ${least} to ${most}`);
}

function integer(options: WebhooksClientOptions, name: NumberName, range: Range): number {
  const value = number(options, name, range);
  if (Number.isInteger(value)) return value;
  throw invalid(`${name} must be an integer from ${range.least} to ${range.most}`);
}

function invalid(what: string): WebhookError {
  return new WebhookError(`Cannot make a webhooks client: ${what}`, { code: "INVALID_OPTION" });
}
