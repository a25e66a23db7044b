import type { RequestListener } from "node:http";
import { Keys } from "./api";
import { readData, writeData } from "./dataFile";
import { Deliveries } from "./deliveries";
import type { Emulator } from "./emulator";
import { EmulatorError } from "./errors";
import { exchange } from "./exchange";
import { Faults } from "./faults";
import { listen } from "./http";
import { runJob } from "./job";
import { Log, type LoggedRequest } from "./log";
import { DEFAULT_ACCOUNT, type EmulatorOptions, settingsOf } from "./options";
import { emulatorPage } from "./page/emulatorPage";
import { isForPage } from "./page/server";
import { Registry } from "./registry";
import { Secrets } from "./secrets";
import { Timers } from "./timers";

/** Where this machine reaches a server that listens on all of its addresses. */
const OWN_ADDRESS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

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
  const saved = dataFile === undefined ? { accounts: {} } : readData(dataFile);
  const settings = settingsOf(options, saved);
  const { host, accounts } = settings;
  let { apiKey } = settings;
  const save = () => {
    if (dataFile !== undefined)
      writeData(dataFile, { apiKey, secrets: secrets.snapshot(), accounts: registry.snapshot() });
  };
  const keys = new Keys(settings);
  const registry = new Registry({ ...settings, initial: saved.accounts, onChange: save });
  const secrets = new Secrets(settings.secrets, save);
  const faults = new Faults();
  const timers = new Timers();
  const requests = new Log<LoggedRequest>();
  const homeAccount = accounts[apiKey] ?? DEFAULT_ACCOUNT;
  const deliveries = new Deliveries({ ...settings, registry, secrets, timers, homeAccount });
  // Finds out at once whether the file can be written, and keeps the generated secret.
  save();

  const parts = { ...settings, keys, registry, secrets, faults, timers, requests, deliveries, homeAccount };
  const api = exchange(parts);
  const page = emulatorPage({ ...parts, apiKey: () => apiKey });
  const handle: RequestListener = (request, response) =>
    isForPage(request) ? page(request, response) : api(request, response);
  const listener = await listen(host, settings.port, handle);
  const address = OWN_ADDRESS[host] ?? host;

  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${listener.port}`,
    get apiKey() {
      return apiKey;
    },
    endpoints: (account) => registry.list(account),
    add(input, account = homeAccount) {
      keys.checkAccount(account);
      return registry.add(account, input);
    },
    remove(id) {
      const { account, endpoint } = registry.found(id, "remove");
      registry.remove(account, id);
      return endpoint;
    },
    edit: (id, change) => registry.edit(id, change),
    rotateKey(oldKey, newKey) {
      keys.rotate(oldKey, newKey);
      if (oldKey === apiKey) apiKey = newKey;
      save();
    },
    fault: (fault) => faults.plant(fault),
    clearFaults: () => faults.clear(),
    get requests() {
      return requests.entries;
    },
    clearRequests: () => requests.clear(),
    deliver: async (event) => deliveries.dispatch(event).done,
    runJob: (job = {}) => runJob({ deliveries, timers }, job),
    replay: async (id) => deliveries.replay(deliveries.latest(id)),
    get deliveries() {
      return deliveries.log.entries;
    },
    clearDeliveries: () => deliveries.log.clear(),
    secrets: (type = "production") => secrets.of(type),
    rotateSecret: (rotation) => secrets.rotate(rotation),
    goOffline: () => listener.close(),
    async goOnline() {
      if (timers.signal.aborted)
        throw new EmulatorError("PORT_UNAVAILABLE", "The emulator is closed. Start a new one.");
      await listener.open();
    },
    async close() {
      timers.close();
      await listener.close();
    },
  };
}
