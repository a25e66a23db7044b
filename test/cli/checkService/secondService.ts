import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ClauseId } from "../../../src/cli/checkService/clauses";

export const KEY = "second-service-key-93";

interface Row {
  readonly id: number;
  readonly url: string;
  readonly type: string;
  readonly created: number;
}

interface Response {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Broken = ClauseId | "spelling" | "gone" | "late" | "replaces" | "lists-first" | "lists-deleted";

const LAG_MS = 7_000;
const LATE_MS = 4_000;

/**
 * A service written from docs/service-contract.md alone. It numbers its endpoints, wraps its list, and can break one clause, spell the
 * types in upper case, answer 410 for 404, know a new endpoint only four seconds after it has answered the
 * registration, replace the endpoint that has the same url, list only the first of them, or list what is
 * deleted.
 */
export class SecondService {
  rows: Row[] = [];
  #made = 0;
  readonly #deleted: Row[] = [];
  readonly #server: Server;

  /** @param now milliseconds since 1970 */
  constructor(
    private readonly now: () => number,
    private readonly broken?: Broken,
  ) {
    this.#server = createServer(async (request, response) => {
      const { status, body, headers = {} } = this.#respond(request, await bodyOf(request));
      response.sendDate = false;
      const date: Record<string, string> = this.#breaks("date")
        ? {}
        : { date: new Date(this.now()).toUTCString() };
      response.writeHead(status, { ...date, ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #breaks(clause: Broken): boolean {
    return this.broken === clause;
  }

  #respond({ method = "", url = "", headers }: IncomingMessage, body: string): Response {
    if (headers["x-api-key"] !== KEY && !this.#breaks("key")) return { status: 403 };
    const [, collection, id] = /^(\/webhooks)(?:\/(.+))?$/.exec(url) ?? [];
    if (collection === undefined) return { status: 404 };
    const row = this.#known().find((each) => String(each.id) === id);
    if (id === undefined) return method === "POST" ? this.#register(JSON.parse(body)) : this.#list();
    if (row === undefined) {
      if (this.#breaks("gone")) return { status: 410 };
      if (this.#breaks("unknown-id") && Number(id) > this.#made) return { status: 400 };
      return this.#breaks("delete-again") && method === "DELETE" && Number(id) <= this.#made
        ? { status: 409 }
        : { status: 404 };
    }
    if (method === "GET") {
      // A redirect that a browser would follow.
      if (this.#breaks("redirects")) return { status: 301, headers: { location: `${url}/` } };
      return { status: 200, body: this.#breaks("get") ? { endpoint: this.#shown(row) } : this.#shown(row) };
    }
    this.#deleted.push(row);
    if (!this.#breaks("delete")) this.rows = this.rows.filter((each) => each !== row);
    return { status: 202, body: { accepted: true } };
  }

  #register({ url, type }: { url: string; type: string }): Response {
    if (!/^https?:/.test(url))
      return { status: this.#breaks("refusals") ? 500 : 422, body: { error: "url" } };
    const same = this.rows.find((each) => each.url === url && each.type === type);
    if (same !== undefined && this.#breaks("duplicates")) return { status: 200, body: this.#shown(same) };
    if (this.#breaks("replaces")) this.rows = this.rows.filter((each) => each !== same);
    this.#made += 1;
    const spelt = this.#breaks("spelling") ? type.toUpperCase() : type;
    const row = { id: this.#made, url, type: spelt, created: this.now() };
    this.rows.push(row);
    const secret = this.#breaks("secrets") ? { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" } : {};
    if (this.#breaks("register")) return { status: 201, body: { id: row.id } };
    return { status: 200, body: { id: row.id, url, type: spelt, ...secret } };
  }

  #known(): Row[] {
    return this.rows.filter(({ created }) => !this.#breaks("late") || this.now() - created > LATE_MS);
  }

  #list(): Response {
    const isFirst = (row: Row) => this.rows.find(({ url }) => url === row.url) === row;
    const isListed = (row: Row) =>
      !(this.#breaks("list-lag") && this.now() - row.created <= LAG_MS) &&
      (!this.#breaks("lists-first") || isFirst(row));
    const rows = (this.#breaks("lists-deleted") ? [...this.#deleted, ...this.#known()] : this.#known())
      .filter(isListed)
      .map((row) => this.#shown(row));
    if (this.#breaks("list")) return { status: 200, body: { hooks: rows } };
    return { status: 200, body: { items: rows, ...(this.#breaks("whole-list") ? { has_more: true } : {}) } };
  }

  #shown({ id, url, type, created }: Row): object {
    const time = new Date(created).toISOString();
    const createdAt = this.#breaks("timestamps") ? time.slice(0, 19).replace("T", " ") : time;
    return { id, url, type, createdAt, updatedAt: createdAt };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
