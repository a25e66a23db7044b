import { randomBytes } from "node:crypto";
import { unknownOptions } from "../shared/knownOptions";
import { DEFAULT_RETRY_DELAYS_MS } from "./deliveries/retry";
import type { SecretsOption } from "./deliveries/secrets";
import { EmulatorError } from "./errors";
import type { ListShape, MoreSign } from "./listing";
import { PAGE_PATH } from "./page/server";
import type { RateLimit } from "./rateLimiter";
import type { SavedData } from "./savedData";
import { isDelay, MAX_DELAY_MS } from "./timers";

/** The default API key. It is not a secret: it opens only emulators. */
export const DEFAULT_API_KEY = "emulator-api-key";
/** The account that `apiKey` opens, unless `accounts` assigns it another one. */
export const DEFAULT_ACCOUNT = "default";

/** The options of `startEmulator`. All of them except the functions can come from a JSON file. */
export interface EmulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** A path in front of `/webhooks`, such as `/api/v1`. Default none. */
  readonly basePath?: string;
  /** The key of the account `default`. Default: the one in the data file, else `emulator-api-key`. */
  readonly apiKey?: string;
  /** More API keys, each with the name of the account that it opens. Several keys may open one account. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Default `X-Api-Key`. */
  readonly apiKeyHeader?: string;
  /** A word before the key, such as `Bearer`. Default none. */
  readonly apiKeyScheme?: string;
  /** Default `array`. */
  readonly listShape?: ListShape;
  /** Endpoints per page of a list. Default: all on one page. */
  readonly pageSize?: number;
  /** How a partial list announces the next page. Default `hasMore`, or `link` for a bare array. */
  readonly moreSign?: MoreSign;
  /** Added to each request: half before its effect, half after it. Default 0. */
  readonly latencyMs?: number;
  /** The limit for each account. Requests above it get 429 with Retry-After. Default: no limit. */
  readonly rateLimit?: RateLimit;
  /** Stores URLs in their normal form, as some services do. Default false: as written. */
  readonly normalizeUrls?: boolean;
  /**
   * A JSON file that keeps the endpoints, the signing secrets and `apiKey` across restarts. Only its owner can read it,
   * and only one emulator may use it. Default: memory only.
   */
  readonly dataFile?: string;
  /** The signing secrets. Default: those in the data file, else a new secret, which `secrets()` returns. */
  readonly secrets?: SecretsOption;
  /** The waits between the attempts of a delivery. Default 1, 2, 4, 8, 16, 32 and 60 seconds. */
  readonly retryDelaysMs?: readonly number[];
  /** How long a receiver may take to answer, in milliseconds. Default 20,000: longer than the deadline of a receiver's handler. */
  readonly deliveryTimeoutMs?: number;
  /** Whether all endpoints get an event with one `webhook-id` or each with its own. Default `per-event`. */
  readonly webhookIds?: "per-event" | "per-endpoint";
  /**
   * More names and addresses at which the API answers, without a port: `["emulator"]` for `http://emulator:8787` in a network of
   * containers. Without them, it answers at loopback names, at `host`, and at the address of the connection, so that no web page
   * reaches it under a name of its own.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Called once for each `deliver` and `runJob` that a receiver refused twice, and when the data file cannot be written any more.
   * Default: a process warning.
   */
  readonly warn?: (message: string) => void;
  /** Milliseconds since 1970; timestamps and the `Date` header follow it. Default `Date.now`. */
  readonly now?: () => number;
  /** Default: `wh_` and 24 random hexadecimal digits. */
  readonly newId?: (account: string) => string;
}

/** The options that have no default. */
type Unset = "apiKeyScheme" | "pageSize" | "rateLimit" | "dataFile" | "secrets";

/** Validated options, with defaults filled in. */
export type Settings = Required<Omit<EmulatorOptions, Unset>> & {
  readonly [Name in Unset]: EmulatorOptions[Name] | undefined;
};

const LIST_SHAPES: readonly ListShape[] = ["array", "data", "items", "webhooks", "endpoints", "results"];
/** A name or an IPv4 address, or an IPv6 address in brackets. */
const HOST_NAME = /^([\w.-]+|\[[\da-f:.]+\])$/i;
const MORE_SIGNS: readonly MoreSign[] = ["next", "hasMore", "has_more", "nextCursor", "link"];

/**
 * Fills in what was saved and the defaults, and validates.
 *
 * @throws EmulatorError that names every invalid option, and never an API key
 */
export function settingsOf(options: EmulatorOptions, saved?: SavedData): Settings {
  const { apiKey = saved?.apiKey ?? DEFAULT_API_KEY, listShape = "array" } = options;
  const settings: Settings = {
    port: options.port ?? 0,
    host: options.host ?? "127.0.0.1",
    basePath: (options.basePath ?? "").replace(/\/+$/, ""),
    apiKey,
    accounts: { [apiKey]: DEFAULT_ACCOUNT, ...options.accounts },
    apiKeyHeader: options.apiKeyHeader ?? "X-Api-Key",
    apiKeyScheme: options.apiKeyScheme,
    listShape,
    pageSize: options.pageSize,
    moreSign: options.moreSign ?? (listShape === "array" ? "link" : "hasMore"),
    latencyMs: options.latencyMs ?? 0,
    rateLimit: options.rateLimit,
    normalizeUrls: options.normalizeUrls ?? false,
    dataFile: options.dataFile,
    secrets: options.secrets ?? saved?.secrets,
    retryDelaysMs: options.retryDelaysMs ?? DEFAULT_RETRY_DELAYS_MS,
    deliveryTimeoutMs: options.deliveryTimeoutMs ?? 20_000,
    webhookIds: options.webhookIds ?? "per-event",
    allowedHosts: options.allowedHosts ?? [],
    warn: options.warn ?? ((message) => process.emitWarning(message, { code: "WEBHOOK_EMULATOR" })),
    now: options.now ?? Date.now,
    newId: options.newId ?? (() => `wh_${randomBytes(12).toString("hex")}`),
  };
  const problems = [...unknownOptions(options, Object.keys(settings), "an option"), ...problemsOf(settings)];
  if (problems.length > 0) {
    throw new EmulatorError(
      "EMULATOR_OPTIONS",
      `Cannot start the emulator: ${problems.join("; ")}. Correct these options.`,
    );
  }
  return settings;
}

function problemsOf(settings: Settings): string[] {
  const { port, basePath, apiKey, accounts, apiKeyHeader, apiKeyScheme, listShape, pageSize, moreSign } =
    settings;
  const { latencyMs, rateLimit, retryDelaysMs, deliveryTimeoutMs, webhookIds, allowedHosts, dataFile } =
    settings;
  const { host, warn, now, newId } = settings;
  const rules: readonly (readonly [boolean, string])[] = [
    [Number.isInteger(port) && port >= 0 && port <= 65_535, "port must be a whole number from 0 to 65535"],
    [basePath === "" || /^\/[^?#\s]+$/.test(basePath), 'basePath must begin with "/"'],
    [!`${basePath}/`.startsWith(PAGE_PATH), `basePath must not begin with ${PAGE_PATH}, where the page is`],
    [typeof apiKey === "string", "apiKey must be a string"],
    [typeof host === "string", "host must be a string"],
    [[warn, now, newId].every((each) => typeof each === "function"), "warn, now and newId must be functions"],
    [!Object.keys(accounts).includes(""), "an API key must not be empty"],
    [
      Object.values(accounts).every((name) => typeof name === "string" && name !== ""),
      "an account name must be a non-empty string",
    ],
    [/^[\w!#$%&'*+.^`|~-]+$/.test(apiKeyHeader), "apiKeyHeader must be the name of a header"],
    [apiKeyScheme === undefined || /^\S+$/.test(apiKeyScheme), "apiKeyScheme must be one word"],
    [LIST_SHAPES.includes(listShape), `listShape must be one of ${LIST_SHAPES.join(", ")}`],
    [MORE_SIGNS.includes(moreSign), `moreSign must be one of ${MORE_SIGNS.join(", ")}`],
    [
      listShape !== "array" || moreSign === "link",
      'the listShape "array" works only with the moreSign "link"',
    ],
    [
      pageSize === undefined || (Number.isInteger(pageSize) && pageSize > 0),
      "pageSize must be a whole number above 0",
    ],
    [isDelay(latencyMs), `latencyMs must be from 0 to ${MAX_DELAY_MS}`],
    [
      Array.isArray(allowedHosts) &&
        allowedHosts.every((name) => typeof name === "string" && HOST_NAME.test(name)),
      "allowedHosts must be an array of host names without scheme and port",
    ],
    [dataFile === undefined || typeof dataFile === "string", "dataFile must be a path"],
    [
      rateLimit === undefined || rateLimit.requestsPerSecond > 0,
      "the rate limit (requestsPerSecond) must be above 0",
    ],
    [rateLimit?.burst === undefined || rateLimit.burst >= 1, "burst must be at least 1"],
    [
      Array.isArray(retryDelaysMs) && retryDelaysMs.every(isDelay),
      `retryDelaysMs must be an array of numbers from 0 to ${MAX_DELAY_MS}`,
    ],
    [
      deliveryTimeoutMs > 0 && isDelay(deliveryTimeoutMs),
      `deliveryTimeoutMs must be above 0, and at most ${MAX_DELAY_MS}`,
    ],
    [
      webhookIds === "per-event" || webhookIds === "per-endpoint",
      "webhookIds must be per-event or per-endpoint",
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
}
