import { type IncomingHttpHeaders, request } from "node:http";

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
