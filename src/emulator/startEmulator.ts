import { backdoor } from "./backdoor";
import { Deliveries } from "./deliveries/deliveries";
import { runJob } from "./deliveries/job";
import { Secrets } from "./deliveries/secrets";
import type { Emulator } from "./emulator";
import { EmulatorError } from "./errors";
import { exchange } from "./exchange";
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

/**
 * Starts an emulated webhook service on this machine: a real HTTP server with the same API, and faults on demand.
 *
 * ```ts
 * const emulator = await startEmulator({ apiKey: "test-key" });
 * await fetch(`${emulator.url}/webhooks`, { headers: { "X-Api-Key": "test-key" } });
 * await emulator.close();
 * ```
 *
 * From a shell: `npx webhook-endpoints emulator`.
 *
 * @throws EmulatorError for invalid options, a port that is taken, or a data file that cannot be read
 * @throws WebhookSecretError for an invalid secret
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
  const secrets = new Secrets(settings.secrets);
  const homeAccount = accounts[settings.apiKey] ?? "";
  const { retryDelaysMs, deliveryTimeoutMs: timeoutMs, webhookIds } = settings;
  const sending = { registry, secrets, timers, now, homeAccount, retryDelaysMs, timeoutMs, webhookIds };
  const deliveries = new Deliveries(sending);
  const handle = exchange({ service, keys, registry, faults, log, timers, basePath, latencyMs, now });
  const listener = await listen(settings.host, settings.port, handle);
  const host = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
  let apiKey = settings.apiKey;
  let closing: Promise<void> | undefined;

  return {
    ...backdoor({ registry, keys, homeAccount }),
    url: `http://${host}:${listener.port}${basePath}`,
    get apiKey() {
      return apiKey;
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
    deliver: async (event) => deliveries.dispatch(event).done,
    runJob: (job = {}) => runJob(deliveries, timers, job),
    replay: (id) => deliveries.replay(id),
    get deliveries() {
      return deliveries.log.entries;
    },
    clearDeliveries: () => deliveries.log.clear(),
    secrets: (type = "production") => secrets.of(type),
    rotateSecret: (rotation = {}) => secrets.rotate(rotation),
    goOffline: () => listener.close(),
    async goOnline() {
      if (timers.closed)
        throw new EmulatorError(
          "EMULATOR_CLOSED",
          "Cannot go online: the emulator is closed. Start a new one.",
        );
      await listener.open();
    },
    close() {
      timers.close();
      deliveries.close();
      closing ??= listener.close().then(() => registry.saved());
      return closing;
    },
  };
}
