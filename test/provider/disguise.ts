import { createServer, type IncomingHttpHeaders, type Server, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** A whole answer of the service behind a disguise. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What becomes of each answer that arrives whole. */
export type Change = (answer: Answer) => Answer;

/** A service in front of another one, which gives the same answers in another form. What breaks off there, or hangs, does so here. */
export class Disguise {
  readonly #server: Server;

  private constructor(target: string, changes: readonly Change[]) {
    this.#server = createServer((request, response) => {
      const { method, headers, url = "" } = request;
      const forwarded = send(new URL(url, target), { method, headers, agent: false }, async (answered) => {
        const { statusCode: status = 0, headers } = answered;
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of answered) chunks.push(chunk);
        } catch {
          response.writeHead(status, headers);
          response.write(Buffer.concat(chunks), () => response.socket?.destroySoon());
          return;
        }
        const whole: Answer = { status, headers, body: Buffer.concat(chunks) };
        const shown = changes.reduce((answer, change) => change(answer), whole);
        const { "content-length": _, "transfer-encoding": __, ...rest } = shown.headers;
        response.sendDate = false;
        response.writeHead(shown.status, rest);
        response.end(shown.body);
      });
      forwarded.on("error", () => response.socket?.destroy());
      response.on("close", () => forwarded.destroy());
      request.pipe(forwarded);
    });
  }

  static async start(target: string, changes: readonly Change[]): Promise<Disguise> {
    const disguise = new Disguise(target, changes);
    await new Promise<void>((resolve) => disguise.#server.listen(0, "127.0.0.1", resolve));
    return disguise;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Compresses each answer, without being asked to. */
export const compressed: Change = ({ status, headers, body }) =>
  body.length === 0
    ? { status, headers, body }
    : { status, headers: { ...headers, "content-encoding": "gzip" }, body: gzipSync(body) };

/** Answers 410 about what is gone. */
export const gone: Change = ({ status, ...rest }) => ({ ...rest, status: status === 404 ? 410 : status });

/** Wraps lists, and counts what they hold. */
export const wrapped: Change = changedJson((value) =>
  Array.isArray(value) ? { results: value, meta: { total: value.length, page: 1, total_pages: 1 } } : value,
);

/** Cuts the seconds off the time at which an endpoint was created. */
export const minutes: Change = changedEndpoints((endpoint) => ({
  ...endpoint,
  createdAt: String(endpoint.createdAt).replace(/:\d\d\.\d+Z$/, ":00Z"),
}));

/** Tells no time: neither that of endpoints nor its own. */
export const timeless: Change = (answer) => {
  const { date: _, ...headers } = answer.headers;
  return withoutTimes({ ...answer, headers });
};
const withoutTimes = changedEndpoints(({ createdAt: _, updatedAt: __, ...endpoint }) => endpoint);

type Json = Readonly<Record<string, unknown>>;

function changedEndpoints(change: (endpoint: Json) => Json): Change {
  return changedJson((value) => {
    if (Array.isArray(value)) return value.map((each) => change(each));
    return isEndpoint(value) ? change(value) : value;
  });
}

function isEndpoint(value: unknown): value is Json {
  return typeof value === "object" && value !== null && "createdAt" in value;
}

/** What is no JSON stays as it is: a fault may answer with anything. */
function changedJson(change: (value: unknown) => unknown): Change {
  return (answer) => {
    try {
      return { ...answer, body: Buffer.from(JSON.stringify(change(JSON.parse(answer.body.toString())))) };
    } catch {
      return answer;
    }
  };
}
