import http from "node:http";
import type { delivered } from "../../receiver/support";

export const CONNECTIONS = 8;

export function connections(): http.Agent {
  return new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
}

/** Returns the status, or 0 if the connection broke. */
export function post(
  url: string,
  agent: http.Agent,
  { headers, body }: ReturnType<typeof delivered>,
): Promise<number> {
  return new Promise((resolve) => {
    const request = http.request(url, {
      method: "POST",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    request.on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", () => resolve(0));
    });
    request.on("error", () => resolve(0)).end(body);
  });
}
