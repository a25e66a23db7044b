import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface TinyEndpoint {
  readonly id: string;
  readonly url: string;
  readonly type: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A webhook service in a few lines, written from the contract alone: not the emulator. */
export class TinyService {
  readonly endpoints: TinyEndpoint[] = [];
  /** How many registrations have arrived. */
  registrations = 0;
  /** How long a registration waits before the endpoint exists, and then before it is answered, in milliseconds. */
  delayMs = { before: 0, after: 0 };
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const id = decodeURIComponent(/^\/webhooks\/([^/?]+)$/.exec(request.url ?? "")?.[1] ?? "");
      const at = this.endpoints.findIndex((endpoint) => endpoint.id === id);
      const answer = (status: number, body?: unknown) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(body === undefined ? "" : JSON.stringify(body));
      };
      if (request.method === "POST") {
        const { url, type } = (await json(request)) as { url: string; type: string };
        this.registrations += 1;
        await sleep(this.delayMs.before);
        const made = this.add(url, type);
        await sleep(this.delayMs.after);
        answer(201, { id: made.id, url, type });
      } else if (id === "") answer(200, this.endpoints);
      else if (at < 0) answer(404, { error: "unknown" });
      else if (request.method === "GET") answer(200, this.endpoints[at]);
      else {
        this.endpoints.splice(at, 1);
        answer(204);
      }
    });
  }

  static async start(): Promise<TinyService> {
    const service = new TinyService();
    await new Promise<void>((resolve) => service.#server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  add(url: string, type = "production"): TinyEndpoint {
    const now = new Date().toISOString();
    const endpoint = {
      id: `ep-${this.endpoints.length}-${Math.random()}`,
      url,
      type,
      createdAt: now,
      updatedAt: now,
    };
    this.endpoints.push(endpoint);
    return endpoint;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
