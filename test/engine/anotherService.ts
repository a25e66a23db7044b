import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The only key that the service accepts. */
export const anotherKey = "s3rvice/key==";

/** An endpoint as this service keeps it. */
interface Hook {
  readonly id: string;
  readonly url: string;
  readonly type: string;
  readonly ip: string | undefined;
  readonly createdAt: unknown;
  readonly updatedAt: unknown;
}

/**
 * Another service of the same contract, which shares no code with the emulator: its ids count, its lists stand under
 * `data`, it spells urls its own way, wants `Authorization: Bearer`, and tells the time as nobody else does.
 */
export class AnotherService {
  readonly hooks = new Map<string, Hook>();
  readonly changes: string[] = [];
  readonly #server: Server;
  #made = 0;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const [status, body] = await this.#answer(request);
      response.writeHead(status, { "Content-Type": "application/vnd.hooks+json; charset=UTF-8" });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v2/`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage): Promise<[status: number, body?: unknown]> {
    const { method = "", url = "", headers } = request;
    let text = "";
    for await (const chunk of request) text += chunk;
    if (headers.authorization !== `Bearer ${anotherKey}`) return [401, { error: "who are you?" }];
    if (method !== "GET") this.changes.push(`${method} ${url}`);
    const path = /^\/api\/v2\/webhooks(?:\/([^/]+))?$/.exec(url);
    if (!path) return [404, { error: "no such page" }];
    const id = path[1] === undefined ? undefined : decodeURIComponent(path[1]);
    if (id === undefined && method === "GET")
      return [200, { object: "list", data: [...this.hooks.values()] }];
    if (id === undefined && method === "POST") return [202, this.#register(JSON.parse(text))];
    const hook = this.hooks.get(id ?? "");
    if (hook === undefined) return [404, { error: "gone" }];
    if (method === "DELETE") this.hooks.delete(hook.id);
    return method === "DELETE" ? [200, { deleted: true }] : [200, hook];
  }

  #register({ url, type, ip }: { url: string; type: string; ip?: string }): object {
    this.#made += 1;
    const id = `hook/${this.#made} ünï`;
    const times = { createdAt: "Tue, 3rd of June (about noon)", updatedAt: `tick ${this.#made}` };
    this.hooks.set(id, { id, url: new URL(url).href, type, ip, ...times });
    return { id, url: new URL(url).href, type, object: "hook" };
  }
}
