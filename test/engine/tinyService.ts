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

/**
 * What a registration ends in. Its endpoint is made, unless it says otherwise:
 * - `ignored`: no answer comes, and no endpoint is made
 * - `reset`: the connection is closed
 * - `hang`: no answer comes
 * - `500`: the service reports an error
 * - `truncated`: the answer breaks off
 * - `late`: the service reports an error, and makes the endpoint only after `lateMs`
 */
export type Fault = "ignored" | "reset" | "hang" | "500" | "truncated" | "late";

/** A webhook service in a few lines, written from the contract alone: not the emulator. */
export class TinyService {
  readonly endpoints: TinyEndpoint[] = [];
  /** How many registrations have arrived. */
  registrations = 0;
  /** How long a registration waits before the endpoint exists, and then before it is answered, in milliseconds. */
  delayMs = { before: 0, after: 0 };
  /** What the next registrations of a url end in, one after the other. */
  readonly faults = new Map<string, Fault[]>();
  lateMs = 1_000;
  /** For how long lists fail after a registration that ends in a fault, in milliseconds. A request to `/mend` ends it. */
  listsFailMs = 0;
  /** Until when lists fail, in milliseconds since 1970. */
  listsFailUntil = 0;
  /** Whether ids are numbers from 1 on, as in many databases. */
  numericIds = false;
  /** The requests that were to change something: method and id. */
  readonly changes: string[] = [];
  #made = 0;
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
        this.changes.push("POST");
        const fault = this.faults.get(url)?.shift();
        if (fault) this.listsFailUntil = Date.now() + this.listsFailMs;
        if (fault === "ignored") return;
        if (fault === "late") {
          setTimeout(() => this.add(url, type), this.lateMs).unref();
          answer(500, { error: "broken" });
          return;
        }
        await sleep(this.delayMs.before);
        const made = this.add(url, type);
        await sleep(this.delayMs.after);
        if (fault === "hang") return;
        if (fault === "reset") request.socket.destroy();
        else if (fault === "500") answer(500, { error: "broken" });
        else if (fault === "truncated") {
          response.writeHead(201, { "content-type": "application/json", "content-length": "500" });
          response.write('{"id": "ep');
          setTimeout(() => request.socket.destroy(), 20).unref();
        } else answer(201, { id: made.id, url, type });
      } else if (request.url === "/mend") {
        this.listsFailUntil = 0;
        answer(204);
      } else if (id === "") {
        if (Date.now() < this.listsFailUntil) answer(500, { error: "broken" });
        else answer(200, this.endpoints);
      } else if (at < 0) answer(404, { error: "unknown" });
      else if (request.method === "GET") answer(200, this.endpoints[at]);
      else {
        this.changes.push(`DELETE ${id}`);
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
    this.#made += 1;
    const endpoint = {
      id: this.numericIds ? String(this.#made) : `ep-${this.endpoints.length}-${Math.random()}`,
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
