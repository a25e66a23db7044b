import type { EmulatedEndpoint, EndpointInput } from "./endpoint";
import { EmulatorError } from "./errors";
import { exchange } from "./exchange";
import type { Fault, PlantedFault } from "./fault";
import { Faults } from "./faults";
import { Keys } from "./keys";
import { listen } from "./listener";
import { Log } from "./log";
import { type EmulatorOptions, settingsOf } from "./options";
import { RateLimiter } from "./rateLimiter";
import { Registry } from "./registry";
import type { LoggedRequest } from "./requestLog";
import { Service } from "./service";
import { Timers } from "./timers";

/** A running emulator. What is done here by method is done behind the back of the API's clients. */
export interface Emulator {
  /** The base URL, such as `http://127.0.0.1:34567`. */
  readonly url: string;
  /** The key of the account `default`, also after it was rotated. */
  readonly apiKey: string;
  /** What is registered now, oldest first, in one account or in all. */
  endpoints(account?: string): EmulatedEndpoint[];
  /** Registers without a request. Nothing is checked but the account, by default that of `apiKey`. */
  add(input: EndpointInput, account?: string): EmulatedEndpoint;
  /** @throws EmulatorError for an id that is not registered */
  remove(id: string): EmulatedEndpoint;
  /** Changes what the API cannot. @throws EmulatorError for an id that is not registered */
  edit(id: string, change: Partial<EndpointInput>): EmulatedEndpoint;
  /** The old key stops working at once; the new one opens the same account. */
  rotateKey(oldKey: string, newKey: string): void;
  /** Makes requests go wrong. Several faults are met in the order of planting. */
  fault(fault: Fault): PlantedFault;
  clearFaults(): void;
  /** The requests to the management API, oldest first: the last 100,000. */
  readonly requests: readonly LoggedRequest[];
  clearRequests(): void;
  /** Ends every connection and refuses new ones, until `goOnline`. Endpoints, faults and logs stay. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  /**
   * Ends every connection, wait and delivery at once and frees the port.
   *
   * @throws EmulatorError when the data file could not be written
   */
  close(): Promise<void>;
}

/**
 * Starts the webhook service on this machine: a real HTTP server of the same contract, with faults on demand.
 *
 * ```ts
 * const emulator = await startEmulator({ apiKey: "test-key" });
 * await fetch(`${emulator.url}/webhooks`, { headers: { "X-Api-Key": "test-key" } });
 * await emulator.close();
 * ```
 *
 * @throws EmulatorError for options that cannot be used, a port that is taken, a data file that cannot be read
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = settingsOf(options);
  const { accounts, apiKeyHeader: header, apiKeyScheme: scheme, now, basePath, latencyMs } = settings;
  const { listShape: shape, pageSize, moreSign, rateLimit } = settings;
  const keys = new Keys({ accounts, header, scheme });
  const registry = new Registry(settings);
  const faults = new Faults();
  const timers = new Timers();
  const log = new Log<LoggedRequest>();
  const rateLimiter = rateLimit === undefined ? undefined : new RateLimiter(rateLimit);
  const service = new Service({ keys, registry, rateLimiter, listing: { shape, pageSize, moreSign } });
  const handle = exchange({ service, keys, registry, faults, log, timers, basePath, latencyMs, now });
  const listener = await listen(settings.host, settings.port, handle);
  const host = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
  const homeAccount = accounts[settings.apiKey] ?? "";
  let apiKey = settings.apiKey;
  let closing: Promise<void> | undefined;

  const found = (id: string, what: string) => {
    const account = registry.accountOf(id);
    const endpoint = account === undefined ? undefined : registry.get(account, id);
    if (account === undefined || endpoint === undefined) {
      throw new EmulatorError(
        "ERR_EMULATOR_UNKNOWN_ENDPOINT",
        `Cannot ${what} endpoint ${id}: it is not registered. endpoints() lists those that are.`,
      );
    }
    return { account, endpoint };
  };
  /** A save that fails leaves the change unsaved, so that close() tries again and reports. */
  const save = () => void registry.saved().catch(() => undefined);

  return {
    url: `http://${host}:${listener.port}${basePath}`,
    get apiKey() {
      return apiKey;
    },
    endpoints: (account) =>
      account === undefined
        ? [...registry.accounts].flatMap((name) => registry.list(name))
        : registry.list(account),
    add(input, account = homeAccount) {
      if (!keys.accounts.has(account)) {
        const known = [...keys.accounts].join(", ");
        const message = `Cannot add an endpoint to account ${account}: no API key opens it. Known accounts: ${known}.`;
        throw new EmulatorError("ERR_EMULATOR_UNKNOWN_ACCOUNT", message);
      }
      const endpoint = registry.add(account, input);
      save();
      return endpoint;
    },
    remove(id) {
      const { account, endpoint } = found(id, "remove");
      registry.remove(account, id);
      save();
      return endpoint;
    },
    edit(id, change) {
      const { account, endpoint } = found(id, "edit");
      const edited = registry.replace(account, endpoint, change);
      save();
      return edited;
    },
    rotateKey(oldKey, newKey) {
      keys.rotate(oldKey, newKey);
      if (oldKey === apiKey) apiKey = newKey;
    },
    fault: (fault) => faults.plant(fault),
    clearFaults: () => faults.clear(),
    get requests() {
      return log.entries;
    },
    clearRequests: () => log.clear(),
    goOffline: () => listener.close(),
    goOnline: () => listener.open(),
    close() {
      timers.close();
      closing ??= listener.close().then(() => registry.saved());
      return closing;
    },
  };
}
