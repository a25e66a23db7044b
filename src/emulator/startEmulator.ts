import type { RequestListener } from "node:http";
import { DataFile, MEMORY, type OpenedDataFile, openDataFile, type Storage } from "./dataFile";
import { Deliveries } from "./deliveries/deliveries";
import { runJob } from "./deliveries/job";
import { Patience } from "./deliveries/patience";
import { Secrets } from "./deliveries/secrets";
import type { Emulator } from "./emulator";
import { checkInput } from "./endpoint";
import { EmulatorError } from "./errors";
import { exchange } from "./exchange";
import { Faults } from "./faults";
import { Keys } from "./keys";
import { listen } from "./listener";
import { Log, type LoggedRequest } from "./log";
import { type EmulatorOptions, settingsOf } from "./options";
import { isForPage, pageHandler } from "./page/server";
import { emulatorSource } from "./page/service/source";
import { RateLimiter } from "./rateLimiter";
import { Registry } from "./registry";
import type { SavedData } from "./savedData";
import { Service } from "./service";
import { Timers } from "./timers";

/** Where this machine reaches a server that listens on all of its addresses. */
const OWN_ADDRESS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
const inUrl = (host: string) => (host.includes(":") ? `[${host}]` : host);
const LISTED = " endpoints() lists the registered endpoints.";

/**
 * Starts an emulated webhook service on this machine: a real HTTP server with the same API, and faults on demand.
 *
 * ```ts
 * const emulator = await startEmulator({ apiKey: "test-key" });
 * await fetch(`${emulator.url}/webhooks`, { headers: { "X-Api-Key": "test-key" } });
 * await emulator.close();
 * ```
 *
 * From a shell: `npx pulumi-webhook-endpoints emulator`.
 *
 * @throws EmulatorError for invalid options, a port that is taken, or a data file that cannot be used
 * @throws WebhookSecretError for an invalid secret
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { dataFile } = options;
  const file = typeof dataFile === "string" ? await openDataFile(dataFile) : undefined;
  try {
    return await start(options, file);
  } catch (error) {
    await file?.lock.release();
    throw error;
  }
}

async function start(options: EmulatorOptions, file: OpenedDataFile | undefined): Promise<Emulator> {
  const saved = file?.saved;
  const settings = settingsOf(options, saved);
  const { accounts, apiKeyHeader: header, apiKeyScheme: scheme, now, basePath, latencyMs } = settings;
  const { listShape: shape, pageSize, moreSign, rateLimit, warn } = settings;
  const keys = new Keys({ accounts, header, scheme });
  let apiKey = settings.apiKey;
  const data = (): SavedData => ({ apiKey, secrets: secrets.snapshot(), accounts: registry.snapshot() });
  const { newId, normalizeUrls } = settings;
  const storage: Storage = file === undefined ? MEMORY : new DataFile(file, data, warn);
  const onChange = () => storage.changed();
  const registry = new Registry({ now, newId, normalizeUrls, initial: saved?.accounts ?? {}, onChange });
  const faults = new Faults();
  const timers = new Timers();
  const log = new Log<LoggedRequest>();
  const rateLimiter = rateLimit === undefined ? undefined : new RateLimiter(rateLimit);
  const service = new Service({ keys, registry, rateLimiter, listing: { shape, pageSize, moreSign } });
  const secrets = new Secrets(settings.secrets, onChange);
  const homeAccount = accounts[settings.apiKey] ?? "";
  const { retryDelaysMs, deliveryTimeoutMs: timeoutMs, webhookIds } = settings;
  const sending = { registry, secrets, timers, now, homeAccount, retryDelaysMs, timeoutMs, webhookIds };
  const deliveries = new Deliveries(sending);
  const hosts = [...settings.allowedHosts, inUrl(settings.host)];
  const api = exchange({ hosts, service, keys, storage, faults, log, timers, basePath, latencyMs, now });
  const parts = { registry, deliveries, secrets, faults, requests: log, timers, homeAccount, basePath, now };
  const page = pageHandler(emulatorSource({ ...parts, apiKey: () => apiKey }));
  const handle: RequestListener = (request, response) =>
    isForPage(request, basePath) ? page(request, response) : api(request, response);
  const listener = await listen(settings.host, settings.port, handle);
  const url = `http://${inUrl(OWN_ADDRESS[settings.host] ?? settings.host)}:${listener.port}${basePath}`;
  try {
    await file?.lock.publish(url);
    // Finds out at once whether the file can be written, and keeps the generated secret.
    await storage.saved();
  } catch (error) {
    await listener.close();
    throw error;
  }
  let closing: Promise<void> | undefined;

  return {
    url,
    get apiKey() {
      return apiKey;
    },
    endpoints: (account) => registry.list(account),
    add(input, account = homeAccount) {
      checkInput("add an endpoint", input);
      keys.checkAccount(account);
      return registry.add(account, input);
    },
    remove(id) {
      const { account, endpoint } = registry.found(id, "remove", { hint: LISTED });
      registry.remove(account, id);
      return endpoint;
    },
    edit(id, change) {
      const { account, endpoint } = registry.found(id, "edit", { hint: LISTED });
      const { url, type } = endpoint;
      checkInput("edit an endpoint", { url, type, ...change });
      return registry.replace(account, endpoint, change);
    },
    rotateKey(oldKey, newKey) {
      keys.rotate(oldKey, newKey);
      if (oldKey === apiKey) apiKey = newKey;
      storage.changed();
    },
    fault: (fault) => faults.plant(fault),
    clearFaults: () => faults.clear(),
    get requests() {
      return log.entries;
    },
    clearRequests: () => log.clear(),
    async deliver(event) {
      const patience = new Patience({ what: `The event ${event.type}`, timeoutMs: event.timeoutMs, warn });
      return patience.wait(deliveries.dispatch(event, patience.onRetry).done);
    },
    runJob: async (job = {}) => runJob({ deliveries, timers, warn }, job),
    replay: async (id) => deliveries.replay(deliveries.latest(id)),
    get deliveries() {
      return deliveries.log.entries;
    },
    clearDeliveries: () => deliveries.log.clear(),
    secrets: (type = "production") => secrets.of(type),
    rotateSecret: (rotation = {}) => secrets.rotate(rotation),
    goOffline: () => listener.close(),
    async goOnline() {
      if (timers.signal.aborted)
        throw new EmulatorError(
          "EMULATOR_CLOSED",
          "Cannot go online: the emulator is closed. Start a new one.",
        );
      await listener.open();
    },
    close() {
      timers.close();
      closing ??= listener
        .close()
        .then(() => storage.saved())
        .finally(() => file?.lock.release());
      return closing;
    },
  };
}
