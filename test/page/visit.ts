import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  request,
  type Server,
} from "node:http";
import type { AddressInfo } from "node:net";

/** What has a page. */
interface Site {
  readonly url: string;
}

export interface Visit {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface VisitOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Serves a page on this machine until the test ends. */
export async function serve(listener: RequestListener): Promise<Site> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sends a request as a browser on this machine would, without a script. */
export function visit({ url }: Site, path = "/_emulator/", options: VisitOptions = {}): Promise<Visit> {
  const { method = "GET", headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const accept = "text/html,*/*";
    const sent = request(new URL(path, url), { method, headers: { accept, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString("utf8") });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Submits a form of the page. */
export function submit(
  site: Site,
  action: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Visit> {
  return visit(site, `/_emulator/${action}`, {
    method: "POST",
    headers: { origin: site.url, "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

/** Returns the page's text as a reader sees it: without tags, and with the entities resolved. */
export async function readPage(site: Site, path?: string): Promise<string> {
  const { body } = await visit(site, path);
  return body
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
}
