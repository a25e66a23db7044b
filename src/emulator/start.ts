import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { RequestListener } from "node:http";
import { isForPage, PAGE_PATH } from "../page";
import { listen } from "../shared/listen";
import { readData, writeData } from "./dataFile";
import { Deliveries } from "./deliveries";
import { EmulatorError } from "./emulatorError";
import type { Emulator } from "./emulatorInterface";
import { emulatorPage, PAGE_TITLE } from "./emulatorPage";
import { exchange } from "./exchange";
import { Faults } from "./faults";
import { NewestEntries } from "./newestEntries";
import { DEFAULT_ACCOUNT, DEFAULT_API_KEY, type EmulatorOptions, type Parts, settingsOf } from "./options";
import { Registry } from "./registry";
import { runJob } from "./runJob";
import { Secrets } from "./secrets";

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
 * @throws EmulatorError for an empty API key, a port that is taken, or a data file that cannot be used
 * @throws WebhookSecretError for an invalid secret
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { dataFile, newId = () => `wh_${randomBytes(12).toString("hex")}` } = options;
  const settings = settingsOf(options);
  const { host, now } = settings;
  const saved = dataFile === undefined ? { endpoints: [] } : readData(dataFile);
  let { apiKey = saved.apiKey ?? DEFAULT_API_KEY } = options;
  const keys = new Map(Object.entries({ ...options.accounts, [apiKey]: DEFAULT_ACCOUNT }));
  for (const each of keys.keys()) assertKey(each, "start the emulator");

  const save = () => {
    if (dataFile !== undefined)
      writeData(dataFile, { apiKey, secrets: secrets.byType, endpoints: registry.list() });
  };
  const registry = new Registry({ now, newId, initial: saved.endpoints, onChange: save });
  const secrets = new Secrets(options.secrets ?? saved.secrets, save);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const parts: Parts = {
    ...settings,
    registry,
    secrets,
    faults: new Faults(),
    requests: new NewestEntries(),
    keys,
    closing: closing.signal,
  };
  const { faults, requests } = parts;
  const deliveries = new Deliveries(parts);
  // Finds out at once whether the file can be written, and keeps the generated secret.
  save();

  const api = exchange(parts);
  const handle: RequestListener = (request, response) =>
    isForPage(request) ? page(request, response) : api(request, response);
  const address = OWN_ADDRESS[host] ?? host;
  const urlAt = (port: number) => `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
  const { port = 0 } = options;
  const listener = await listen(host, port, handle, EmulatorError).catch(async (error: Error) => {
    if (!(await isEmulator(urlAt(port)))) throw error;
    const message = `Cannot start the emulator: one runs at ${urlAt(port)} already. Use that, or stop it, or choose another port.`;
    throw new EmulatorError("PORT_UNAVAILABLE", message, { cause: error });
  });

  const emulator: Emulator = {
    url: urlAt(listener.port),
    get apiKey() {
      return apiKey;
    },
    endpoints: (account) => registry.list(account),
    add: (input, account = DEFAULT_ACCOUNT) => registry.add(account, input),
    remove: (id) => registry.remove(id),
    edit: (id, change) => registry.edit(id, change),
    rotateKey(oldKey, newKey) {
      const account = keys.get(oldKey);
      if (account === undefined)
        throw new EmulatorError("EMULATOR_ARGUMENT", "Cannot rotate an API key: the old one is unknown.");
      assertKey(newKey, "rotate an API key");
      keys.delete(oldKey);
      keys.set(newKey, account);
      if (oldKey === apiKey) apiKey = newKey;
      save();
    },
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.entries.clear(),
    get requests() {
      return requests.entries;
    },
    clearRequests: () => requests.clear(),
    deliver: async (event) => deliveries.dispatch(event).done,
    runJob: (job) => runJob(deliveries, job),
    replay: async (id) => deliveries.replay(deliveries.latest(id)),
    get deliveries() {
      return deliveries.log.entries;
    },
    clearDeliveries: () => deliveries.log.clear(),
    secrets: (type = "production") => secrets.byType[type],
    rotateSecret: (rotation) => secrets.rotate(rotation),
    goOffline: () => listener.close(),
    goOnline: () => listener.open(),
    async close() {
      closing.abort();
      await listener.close();
    },
  };
  const page = emulatorPage(emulator, deliveries, parts);
  return emulator;
}

/** @throws EmulatorError for a key that no request could have */
function assertKey(key: unknown, doing: string): void {
  if (typeof key === "string" && key !== "") return;
  throw new EmulatorError(
    "EMULATOR_ARGUMENT",
    `Cannot ${doing}: an API key must be a string, and not empty.`,
  );
}

/** Returns whether an emulator responds at an address, within a second. */
async function isEmulator(url: string): Promise<boolean> {
  const response = await fetch(`${url}${PAGE_PATH}`, { signal: AbortSignal.timeout(1_000) }).catch(
    () => undefined,
  );
  return (await response?.text().catch(() => ""))?.includes(`<title>${PAGE_TITLE}</title>`) === true;
}
