import http from "node:http";

const CHUNK = Buffer.alloc(256 * 1024, "x");

/** What came of a request whose body has no end: the status, if the client got to read one, and how much it could send, in bytes. */
export interface Cut {
  readonly status: number | undefined;
  readonly sent: number;
}

/** Sends a body that has no end, until the other side ends the connection. */
export function sendWithoutEnd(url: string, headers: Record<string, string> = {}): Promise<Cut> {
  return new Promise((resolve) => {
    let status: number | undefined;
    let sent = 0;
    // With `agent: false`, the request says that it is the last one, and Node.js ends the connection by itself.
    const agent = new http.Agent({ keepAlive: true });
    const request = http.request(url, { method: "POST", headers, agent }, (response) => {
      status = response.statusCode;
      response.resume().on("error", () => undefined);
    });
    const write = () => {
      while (!request.destroyed && request.write(CHUNK)) sent += CHUNK.length;
    };
    request.on("drain", write).on("error", () => undefined);
    request.on("close", () => {
      agent.destroy();
      resolve({ status, sent });
    });
    write();
  });
}
