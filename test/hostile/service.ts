import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** An endpoint as a hostile service lists it: any field may be anything. */
export type Row = Readonly<Record<string, unknown>>;

/** Starts a service that has these endpoints, and responds to whatever else with this JSON. Returns its base URL. */
export async function hostileService(rows: readonly Row[], refusal: unknown = {}): Promise<string> {
  const list = JSON.stringify(rows);
  const server = createServer((request, response) => {
    const id = decodeURIComponent(request.url?.split("/webhooks/")[1] ?? "");
    const found = id === "" ? undefined : rows.find((row) => row.id === id);
    const isList = request.method === "GET" && id === "";
    response.setHeader("content-type", "application/json");
    request.resume();
    if (isList) response.end(list);
    else if (request.method === "GET" && found) response.end(JSON.stringify(found));
    else
      response
        .writeHead(request.method === "POST" ? 422 : 404)
        .end(typeof refusal === "string" ? refusal : JSON.stringify(refusal));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What the program of a test declares. */
export const JOBS = { url: "https://hooks.example.com/jobs", type: "development" } as const;

/**
 * Returns rows in which the service's own values are this one. The second cannot be read, the third is what the program has, and the
 * fourth has the same url.
 */
export function rowsOf(value: string): Row[] {
  const url = `https://user:hunter2@hooks.example.com/${value}`;
  return [
    { id: value, url, type: "production", createdAt: value, updatedAt: value },
    { id: `${value} `, url, type: value },
    { id: "wh_jobs", ...JOBS },
    { id: `${value}2`, ...JOBS, createdAt: value },
  ];
}
