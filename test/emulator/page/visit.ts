import { type IncomingHttpHeaders, request } from "node:http";
import type { Emulator } from "../../../src/emulator";

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
export function visit(emulator: Emulator, path = "/_emulator/", options: VisitOptions = {}): Promise<Visit> {
  const { method = "GET", headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, emulator.url),
      { method, headers: { accept: "text/html,*/*", ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString("utf8") });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Submits a form of the page. */
export function submit(
  emulator: Emulator,
  action: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Visit> {
  return visit(emulator, `/_emulator/${action}`, {
    method: "POST",
    headers: {
      origin: new URL(emulator.url).origin,
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  });
}

/** Returns the page's text as a reader sees it: without tags, and with the entities resolved. */
export async function readPage(emulator: Emulator, path?: string): Promise<string> {
  const { body } = await visit(emulator, path);
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return body
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/&([a-z#0-9]+);/g, (_, name) => entities[name] ?? "?");
}
