import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { systemClock } from "../../src/client/clock";
import { type Dispatcher, FakeService, type Habits, type Registered } from "../provider/fakeService";
import { API_KEY, type Declared, type Project, type ProjectOptions } from "./project";

/** The service of the tests of the provider, behind a real socket. It shares no code with the emulator. */
export class HttpService extends FakeService {
  #server: Server | undefined;

  /** @param accounts the key of each further account */
  static async start(
    habits: Habits = {},
    accounts: Readonly<Record<string, string>> = {},
  ): Promise<HttpService> {
    const service = new HttpService("", systemClock, habits);
    service.accounts.set(API_KEY, "default");
    for (const [name, key] of Object.entries(accounts)) service.accounts.set(key, name);
    const server = createServer(async (request, response) => {
      const { method, url: path = "", headers } = request;
      const body = await text(request);
      const sent = { method, path, headers: { "X-Api-Key": headers["x-api-key"] }, body };
      const handler = {
        onRequestStart() {},
        onResponseStart: (_: unknown, status: number, headers: Record<string, string>) =>
          response.writeHead(status, headers),
        onResponseData: (_: unknown, chunk: Buffer) => response.write(chunk),
        onResponseEnd: () => response.end(),
        // Everything written so far must arrive before the connection breaks.
        onResponseError: () => response.socket?.destroySoon(),
      };
      const [request_, handler_] = [sent, handler] as unknown as Parameters<Dispatcher["dispatch"]>;
      service.dispatch({ isDead: false }, request_, handler_);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    service.#server = server;
    Object.assign(service, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    return service;
  }

  /** The stack's configuration for this service. */
  get config(): Record<string, string> {
    return { "webhooks:baseUrl": this.url, "webhooks:apiKey": API_KEY };
  }

  find(path: string): Registered | undefined {
    return this.endpoints.find(({ url }) => new URL(url).pathname === `/${path}`);
  }

  /** Compares the state with what is declared, and both with the service: 0 missing, 0 twice, 0 orphans, and those of others stay. */
  expectExactly(project: Project, declared: Declared, others: readonly Registered[] = []): void {
    const ids = project.ids();
    assert.deepEqual(Object.keys(ids).sort(), Object.keys(declared).sort());
    for (const [name, { opts, adoptId, ifExists, ...args }] of Object.entries(declared)) {
      const found = this.endpoints.find(({ id }) => id === ids[name]);
      assert.deepEqual(found, { ...found, ...args }, name);
    }
    const expected = [...Object.values(ids), ...others.map(({ id }) => id)];
    assert.deepEqual(this.endpoints.map(({ id }) => id).sort(), expected.sort());
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}

/** A stack, and the service that its settings name. */
export interface World<P extends Project = Project> {
  readonly service: HttpService;
  readonly project: P;
}

interface WorldOptions extends ProjectOptions {
  readonly habits?: Habits;
}

/** Makes a service and a stack of its own for a test. Such tests run at once, because most of the time they wait. */
export async function inWorld<P extends Project>(
  Kind: new (options: ProjectOptions) => P,
  { habits, config, ...options }: WorldOptions,
  act: (world: World<P>) => Promise<void>,
): Promise<void> {
  const service = await HttpService.start(habits);
  const project = new Kind({ ...options, config: { ...service.config, ...config } });
  try {
    await act({ service, project });
  } finally {
    project.dispose();
    await service.stop();
  }
}
