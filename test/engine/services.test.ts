import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Project } from "./project";

jest.setTimeout(300_000);

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
class AnotherService {
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
    if (headers.authorization !== "Bearer s3rvice/key==") return [401, { error: "who are you?" }];
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

let service: AnotherService;
let project: Project;

beforeAll(async () => {
  service = new AnotherService();
  project = new Project({
    config: {
      "webhooks:baseUrl": await service.listen(),
      "webhooks:apiKey": "s3rvice/key==",
      "webhooks:apiKeyHeader": "Authorization",
      "webhooks:apiKeyScheme": "Bearer",
    },
  });
});

afterAll(async () => {
  project.dispose();
  await service.close();
});

const urls = () => [...service.hooks.values()].map(({ url }) => url).sort();

test("a service with another header, envelope and id format works by configuration alone, from up to destroy", async () => {
  const spelled = { url: "HTTPS://Hooks.Example.COM:443", type: "production" };
  const escaped = { url: "https://hooks.example.com/a b?q=ä".replace(" ", "%20"), type: "development" };
  const plain = { url: "https://hooks.example.com/plain", type: "production", ip: "2001:db8::/32" };
  project.declare({ spelled, escaped, plain });
  await project.up();
  expect(urls()).toEqual([
    "https://hooks.example.com/",
    "https://hooks.example.com/a%20b?q=%C3%A4",
    "https://hooks.example.com/plain",
  ]);

  // However often it is looked at, what is spelled otherwise there is the same here.
  service.changes.length = 0;
  expect(await project.up()).toMatch(/4 unchanged/);
  expect(await project.refresh()).toMatch(/4 unchanged/);
  expect(await project.up("--refresh")).toMatch(/4 unchanged/);
  expect(await project.preview("--expect-no-changes")).toMatch(/4 unchanged/);
  expect(service.changes).toEqual([]);
  const before = await project.endpoints();
  expect(before.spelled?.outputs).toMatchObject({
    url: spelled.url,
    createdAt: "Tue, 3rd of June (about noon)",
  });

  const [gone] = [...service.hooks.keys()].filter((id) => id === before.plain?.id);
  service.hooks.delete(gone ?? "");
  expect(await project.refresh()).toMatch(/plain deleted/);
  project.declare({ spelled: { ...spelled, url: "https://hooks.example.com/moved" }, escaped, plain });
  expect(await project.up()).toMatch(/\+ 1 created[\s\S]*1 replaced/);
  expect(service.changes.map((change) => change.split(" ")[0]).sort()).toEqual(["DELETE", "POST", "POST"]);
  expect(urls()).toEqual([
    "https://hooks.example.com/a%20b?q=%C3%A4",
    "https://hooks.example.com/moved",
    "https://hooks.example.com/plain",
  ]);
  expect(Object.keys(await project.endpoints()).sort()).toEqual(["escaped", "plain", "spelled"]);

  await project.destroy();
  expect(urls()).toEqual([]);
  expect(project.transcript).not.toContain("s3rvice/key==");
  expect(project.filesAtRest()).not.toContain("s3rvice/key==");
});
