import type { Faults } from "./faults";
import type { EmulatedResponse } from "./http";
import type { LoggedRequest } from "./loggedRequest";
import type { NewestEntries } from "./newestEntries";
import type { Registry } from "./registry";
import type { Secrets, SecretsOption } from "./secrets";

/** The default API key. It is not a secret: it opens only emulators. */
export const DEFAULT_API_KEY = "emulator-api-key";
/** The account that `apiKey` opens, and that gets an event without a target. */
export const DEFAULT_ACCOUNT = "default";
/** About two minutes in total: quick enough to watch, slow enough to fix a receiver in the meantime. */
const RETRY_DELAYS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000];

/** Replaces a response of the API, to emulate an odd service. The operation has taken effect. */
export type ResponseHook = (
  request: LoggedRequest,
  right: EmulatedResponse,
) => EmulatedResponse | Promise<EmulatedResponse>;

/** The options of `startEmulator`. */
export interface EmulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** The address to listen on, such as `0.0.0.0`. Default `127.0.0.1`. The page is only for this machine. */
  readonly host?: string;
  /**
   * The key of the account `default`, in the header `X-Api-Key`, or in `Authorization` after a word such as `Bearer`. Default: the one in
   * the data file, else `emulator-api-key`.
   */
  readonly apiKey?: string;
  /** More API keys, each with the name of the account that it opens. Several keys may open one account. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** How long a list leaves out a new endpoint, in milliseconds. `get` knows it at once. Default 0. */
  readonly lagMs?: number;
  /** Replaces responses of the API, to emulate an odd service. Called after the effect, before a fault garbles the response. */
  readonly answer?: ResponseHook;
  /**
   * A JSON file that keeps the endpoints, the signing secrets and `apiKey` across restarts. Only its owner can read it, but on Windows
   * whoever can read its folder. Give each emulator a file of its own. Default: memory only.
   */
  readonly dataFile?: string;
  /** The signing secrets. Default: those in the data file, else a new secret, which `secrets()` returns. */
  readonly secrets?: SecretsOption;
  /** The waits between the attempts of a delivery. Default 1, 2, 4, 8, 16, 32 and 60 seconds. */
  readonly retryDelaysMs?: readonly number[];
  /** How long a receiver may take to respond, in milliseconds. Default 20,000: longer than the deadline of a receiver's handler. */
  readonly deliveryTimeoutMs?: number;
  /** Called when a receiver has refused an event twice, and when a request got no response. Default: a process warning. */
  readonly warn?: (message: string) => void;
  /** Milliseconds since 1970; timestamps and the `Date` header follow it. Default `Date.now`. */
  readonly now?: () => number;
  /** Default: `wh_` and 24 random hexadecimal digits. */
  readonly newId?: (account: string) => string;
}

/** Returns the options that the parts of an emulator use, with their defaults. */
export function settingsOf({
  host = "127.0.0.1",
  lagMs = 0,
  answer = (_request, right) => right,
  retryDelaysMs = RETRY_DELAYS_MS,
  deliveryTimeoutMs = 20_000,
  warn = (message) => process.emitWarning(message, { code: "WEBHOOK_EMULATOR" }),
  now = Date.now,
}: EmulatorOptions) {
  return { host, lagMs, answer, retryDelaysMs, deliveryTimeoutMs, warn, now };
}

/** What the parts of an emulator share. */
export interface Parts extends ReturnType<typeof settingsOf> {
  readonly registry: Registry;
  readonly secrets: Secrets;
  readonly faults: Faults;
  readonly requests: NewestEntries<LoggedRequest>;
  /** API key to account name. */
  readonly keys: ReadonlyMap<string, string>;
  /** Aborted when the emulator closes. */
  readonly closing: AbortSignal;
}
